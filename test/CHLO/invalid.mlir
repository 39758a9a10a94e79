// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi32>'}}
  %0 = "chlo.erf"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @types_differ(%x: tensor<4xf32>) -> tensor<4xbf16> {
  // expected-error @+1 {{requires the same type for all operands and results}}
  %0 = "chlo.erfc"(%x) : (tensor<4xf32>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

func.func @square_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point or complex-type values, but got 'tensor<4xi32>'}}
  %0 = "chlo.square"(%x) : (tensor<4xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @element_of_constant_like(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{value must have the element type of the result, 'f32'; found 'i32'}}
  %0 = "chlo.constant_like"(%x) <{value = 2 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @constant_like_of_a_tensor(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{value must have the element type of the result, 'f32'; found 'tensor<4xf32>'}}
  %0 = "chlo.constant_like"(%x) <{value = dense<2.0> : tensor<4xf32>}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @type_of_constant() -> tensor<4xf32> {
  // expected-error @+1 {{failed to verify that all of {value, output} have same type}}
  %0 = "chlo.constant"() <{value = dense<2.0> : tensor<4xf64>}> : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @zeta_of_integers(%x: tensor<4xi32>) -> tensor<4xi32> {
  // expected-error @+1 {{operand #0 must be ranked tensor of floating-point values, but got 'tensor<4xi32>'}}
  %0 = chlo.zeta %x, %x : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
