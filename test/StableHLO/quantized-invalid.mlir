// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.uniform_quantize' op (C1) operand and result must have one shape; found [4] and [5]}}
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<5x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.uniform_quantize' op (C2) the expressed type of the result must be that of the operand, 'f32'; found 'bf16'}}
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:bf16, 0.5>>
  return
}

// -----

func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op (C1, C2) the result must have type 'tensor<4xf32>'; found 'tensor<5xf32>'}}
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error @+1 {{'stablehlo.uniform_dequantize' op (C1, C2) the result must have type 'tensor<4xf32>'; found 'tensor<4xf64>'}}
  %0 = stablehlo.uniform_dequantize %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf64>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{'stablehlo.constant' op (C1) the result must have type 'tensor<2xui8>'; found 'tensor<2x!quant.uniform<i8:f32, 5.000000e-01>>'}}
  %0 = "stablehlo.constant"() <{value = dense<[1, 200]> : tensor<2xui8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  return
}
