// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x3xf32>, %y: tensor<3x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C1) inputs must have one shape; input 1 has [3, 3], input 0 has [2, 3]}}
  %0:2 = "stablehlo.reduce"(%x, %y, %s, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<3x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<1xf32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (I2) init_values must be scalars; found 'tensor<1xf32>'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f16>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C2) init value 0 must have the input's element type 'f32'; found 'f16'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f16>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C3) inputs, init_values and results must be as many, and at least one; found 3 operands and 1 results}}
  %0 = "stablehlo.reduce"(%x, %x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C3) inputs, init_values and results must be as many, and at least one; found 2 operands and 2 results}}
  %0:2 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<2xf32>)
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C4) dimensions must be in [0, 2), the axes of the inputs; found 2}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C5) dimensions must be unique; found 1 twice in [1, 1]}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) the body must take 2 arguments, a running value and an element for each input; found 1}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) the body must return 1 values; found 2}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a, %b : tensor<f32>, tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) for input 0 the body's two arguments and its result must have one scalar type; found 'tensor<f32>', 'tensor<f16>' and 'tensor<f32>'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f16>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) for input 0 the body's two arguments and its result must have one scalar type}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<2xf32>, %b: tensor<2xf32>):
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C6) the body's type 'tensor<f16>' must hold the elements of input 0, 'f32'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f16>, %b: tensor<f16>):
    stablehlo.return %a : tensor<f16>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf16>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C7) result 0 must have the shape [2]; found [3]}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.reduce' op (C8) result 0 must have the body's element type 'f32'; found 'f64'}}
  %0 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf64>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.negate' is not an operation on two tensors that a reduction can apply}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.negate across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.nothing' is not an operation on two tensors that a reduction can apply}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.nothing across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.compare' is not an operation on two tensors that a reduction can apply}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.compare across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: f32, %s: tensor<f32>) {
  // expected-error @+1 {{a reduction that applies an operation has one tensor as input}}
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.and across dimensions = [1] : (f32, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{expected ','}}
  %0 = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32> reducer(%a: tensor<f32>) { stablehlo.return %a : tensor<f32> }
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %s: tensor<f32>) {
  // expected-error @+1 {{number of operands and types do not match: got 2 operands and 1 types}}
  %0 = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<2x3xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %i: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.divide' is not commutative, and `applies` is for commutative operations; write the body out: `reducer(%a: T, %b: T) { ... }`}}
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.divide across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  return
}
