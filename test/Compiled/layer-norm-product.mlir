// The program of docs/compiler.md, which test/python/test_compiler_page.py holds against what is dumped.
// RUN: octavo run %s --explain-compile | FileCheck %s
// CHECK: kernels     10 operations in 1 kernel
// CHECK: products    1: 1 f32 x f32
func.func @main(%x: tensor<128x64xf32>, %gain: tensor<64xf32>, %w: tensor<64x32xf32>) -> tensor<128x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<64.0> : tensor<128xf32>
  %epsilon = stablehlo.constant dense<1.0e-5> : tensor<128xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  %mean = stablehlo.divide %sum, %n : tensor<128xf32>
  %means = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<128xf32>) -> tensor<128x64xf32>
  %centred = stablehlo.subtract %x, %means : tensor<128x64xf32>
  %squares = stablehlo.multiply %centred, %centred : tensor<128x64xf32>
  %squareSum = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<128x64xf32>, tensor<f32>) -> tensor<128xf32>
  %variance = stablehlo.divide %squareSum, %n : tensor<128xf32>
  %shifted = stablehlo.add %variance, %epsilon : tensor<128xf32>
  %scale = stablehlo.rsqrt %shifted : tensor<128xf32>
  %scales = stablehlo.broadcast_in_dim %scale, dims = [0] : (tensor<128xf32>) -> tensor<128x64xf32>
  %normed = stablehlo.multiply %centred, %scales : tensor<128x64xf32>
  %gains = stablehlo.broadcast_in_dim %gain, dims = [1] : (tensor<64xf32>) -> tensor<128x64xf32>
  %scaled = stablehlo.multiply %normed, %gains : tensor<128x64xf32>
  %y = stablehlo.dot_general %scaled, %w, contracting_dims = [1] x [0] : (tensor<128x64xf32>, tensor<64x32xf32>) -> tensor<128x32xf32>
  return %y : tensor<128x32xf32>
}
