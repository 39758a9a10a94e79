// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C1) there must be at least one input}}
  "stablehlo.sort"() ({
  ^bb0:
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : () -> ()
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C2) the results must have the inputs' types, 'tensor<4x8xf32>'; found 'tensor<4x8xf64>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  })  : (tensor<4x8xf32>) -> (tensor<4x8xf64>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C3) inputs must have one shape; input 1 has [4, 7], input 0 has [4, 8]}}
  %0:2 = "stablehlo.sort"(%x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  })  : (tensor<4x8xf32>, tensor<4x7xf32>) -> (tensor<4x8xf32>, tensor<4x7xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C4) dimension must be in [-2, 2), the axes of the inputs; found 2}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) {dimension = 2 : i64} : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C4) dimension must be in [0, 0), the axes of the inputs; found -1}}
  %0 = "stablehlo.sort"(%s) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  })  : (tensor<f32>) -> (tensor<f32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C5) the comparator must take two scalars of each input, 'tensor<f32>', 'tensor<f32>'; it takes 'tensor<f32>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>):
    %1 = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %1 : tensor<i1>
  })  : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.sort' op (C5) the comparator must return tensor<i1>; found 'tensor<f32>'}}
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  })  : (tensor<4x8xf32>) -> (tensor<4x8xf32>)
  return
}
