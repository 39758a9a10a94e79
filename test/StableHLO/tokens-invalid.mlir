// RUN: octavo-opt %s -split-input-file -verify-diagnostics

func.func @order_of_tensors(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.after_all' op operand #0 must be variadic of token, but got 'tensor<4xf32>'}}
  %0 = "stablehlo.after_all"(%x) : (tensor<4xf32>) -> !stablehlo.token
  return
}

// -----

func.func @token_of_a_tensor() {
  // expected-error @+1 {{'stablehlo.create_token' op result #0 must be token, but got 'tensor<4xf32>'}}
  %0 = "stablehlo.create_token"() : () -> tensor<4xf32>
  return
}

// -----

func.func @outfeed_without_token(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.outfeed' op operand #1 must be token, but got 'tensor<4xf32>'}}
  %0 = "stablehlo.outfeed"(%x, %x) <{outfeed_config = ""}> : (tensor<4xf32>, tensor<4xf32>) -> !stablehlo.token
  return
}

// -----

func.func @identifier_of_another_type() {
  // expected-error @+1 {{'stablehlo.partition_id' op result #0 must be}}
  %0 = "stablehlo.partition_id"() : () -> tensor<f32>
  return
}
