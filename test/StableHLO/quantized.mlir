// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<4xf32>, %q: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) {
  // CHECK: stablehlo.uniform_quantize
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
  // CHECK: stablehlo.uniform_quantize
  %1 = stablehlo.uniform_quantize %q : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x!quant.uniform<i4:f32, 2.500000e-01>>
  // CHECK: stablehlo.uniform_dequantize
  %2 = stablehlo.uniform_dequantize %q : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
  return
}
