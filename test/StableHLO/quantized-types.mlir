// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s -mlir-print-op-generic | octavo-opt | FileCheck %s

!q = !quant.uniform<i8:f32, 0.5:3>
!r = !quant.uniform<i8:f32, 0.25>
!a = !quant.uniform<i8:f32:1, {0.5, 0.25:3, 2.0}>

// CHECK-LABEL: func.func @quantized
func.func @quantized(%x: tensor<2x3x!q>, %y: tensor<2x3x!r>, %a: tensor<2x3x!a>) {
  // CHECK: stablehlo.constant() <{value = dense<7> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %0 = stablehlo.constant() <{value = dense<7> : tensor<2xi8>}> : () -> tensor<2x!q>
  // Scales may differ where types are compared up to them.
  // CHECK: stablehlo.multiply %arg0, %arg1 : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<2x3x!quant.uniform<i8:f32, 2.500000e-01>>) -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %1 = stablehlo.multiply %x, %y : (tensor<2x3x!q>, tensor<2x3x!r>) -> tensor<2x3x!q>
  // CHECK: stablehlo.add %arg0, %arg2 :
  %2 = stablehlo.add %x, %a : (tensor<2x3x!q>, tensor<2x3x!a>) -> tensor<2x3x!a>
  // The quantization dimension goes where its axis goes.
  // CHECK: stablehlo.transpose %arg2, dims = [1, 0] : {{.*}} -> tensor<3x2x!quant.uniform<i8:f32:0,
  %3 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3x!a>) -> tensor<3x2x!quant.uniform<i8:f32:0, {0.5, 0.25:3, 2.0}>>
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<2x3xi8>
  %4 = stablehlo.bitcast_convert %x : (tensor<2x3x!q>) -> tensor<2x3xi8>
  // CHECK: stablehlo.compare LT, %arg0, %arg1
  %5 = stablehlo.compare LT, %x, %y : (tensor<2x3x!q>, tensor<2x3x!r>) -> tensor<2x3xi1>
  return
}
