// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @negative_dimension(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op attribute 'dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=-1 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @dimension_outside(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op dimension must be an axis of each input; found 1 for 'tensor<8xf32>'}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=1 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @nothing_to_scan(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op there must be an input or an output}}
  %0 = chlo.scan() inits (%zero) dimension=0 attributes {scan_dim_size = 3 : i64} {
  ^bb0(%carry: tensor<f32>):
    stablehlo.return %carry : tensor<f32>
  } : (tensor<f32>) -> (tensor<f32>)
  return
}

// -----

func.func @no_length(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op scan_dim_size must be given where there are no inputs}}
  %0:2 = chlo.scan() inits (%zero) dimension=0 {
  ^bb0(%carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @two_lengths(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op inputs and scan_dim_size must have one extent along dimension; found 7 and 8}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 attributes {scan_dim_size = 7 : i64} {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @slice(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op body must take a slice of each input and the carries, 'tensor<f32>', 'tensor<f32>'; it takes 'tensor<1xf32>', 'tensor<f32>'}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<1xf32>, %carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @arguments(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op body must take a slice of each input and the carries, 'tensor<f32>', 'tensor<f32>'; it takes 'tensor<f32>'}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @returned_count(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op body must return a slice of each output and the carries, 2 values; it returns 1}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %carry : tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @output(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op the output must have type 'tensor<8xf32>'; found 'tensor<7xf32>'}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<7xf32>, tensor<f32>)
  return
}

// -----

func.func @carry(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op carries must have the types of inits, 'tensor<f32>'; body returns 'tensor<i32>', the results are 'tensor<f32>'}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    %1 = stablehlo.convert %carry : (tensor<f32>) -> tensor<i32>
    stablehlo.return %carry, %1 : tensor<f32>, tensor<i32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @values_from_above(%x: tensor<8xf32>, %zero: tensor<f32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    // expected-error @+1 {{using value defined outside the region}}
    stablehlo.return %zero, %carry : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}

// -----

func.func @results_for_carries(%x: tensor<8xf32>, %zero: tensor<f32>) {
  chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %carry : tensor<f32>
  // expected-error @+1 {{expected a result for each of 1 carries; found 0}}
  } : (tensor<8xf32>, tensor<f32>) -> ()
  return
}
