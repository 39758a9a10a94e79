// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func @constants
func.func @constants() {
  // CHECK: %cst = stablehlo.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %c = stablehlo.constant {foo.bar = 1 : i32} dense<7> : tensor<3x0xi4>
  %1 = "stablehlo.constant"() {value = dense<7> : tensor<3x0xi4>, foo.bar = 1 : i32} : () -> tensor<3x0xi4>
  // CHECK: %cst_0 = stablehlo.constant dense<0x7F> : tensor<f8E4M3FN>
  %2 = stablehlo.constant dense<0x7F> : tensor<f8E4M3FN>
  // CHECK: %cst_1 = stablehlo.constant dense<(0.000000e+00,1.000000e+00)> : tensor<complex<f32>>
  %3 = stablehlo.constant dense<(0.0, 1.0)> : tensor<complex<f32>>
  // CHECK: %c_2 = stablehlo.constant dense<true> : tensor<i1>
  %4 = stablehlo.constant dense<true> : tensor<i1>
  // CHECK: %cst_3 = stablehlo.constant dense_resource<blob> : tensor<1xf32>
  %5 = stablehlo.constant dense_resource<blob> : tensor<1xf32>
  return
}

// CHECK-LABEL: func @from_nothing
func.func @from_nothing(%x: tensor<2x1xf32>) {
  // CHECK: stablehlo.iota dim = 1 : tensor<2x3xui8>
  %0 = stablehlo.iota dim = 1 : tensor<2x3xui8>
  // CHECK: stablehlo.iota dim = 0 : tensor<8xf8E4M3>
  %1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<8xf8E4M3>
  // CHECK: stablehlo.broadcast_in_dim %arg0, dims = [2, 0] : (tensor<2x1xf32>) -> tensor<4x5x2xf32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [2, 0] : (tensor<2x1xf32>) -> tensor<4x5x2xf32>
  // CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<0x3xf32>
  %3 = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<0x3xf32>
  return
}

// CHECK-LABEL: func @places
func.func @places(%x: tensor<2x3xf32>, %s: tensor<f32>, %e: tensor<0x3xf32>) {
  // CHECK: stablehlo.reshape %arg0 : (tensor<2x3xf32>) -> tensor<3x2x1xf32>
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<3x2x1xf32>
  // CHECK: stablehlo.reshape %arg2 : (tensor<0x3xf32>) -> tensor<7x0xf32>
  %1 = stablehlo.reshape %e : (tensor<0x3xf32>) -> tensor<7x0xf32>
  // CHECK: stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK: stablehlo.transpose %arg1, dims = [] : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.transpose"(%s) <{permutation = array<i64>}> : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.reverse %arg0, dims = [1, 0] : tensor<2x3xf32>
  %4 = stablehlo.reverse %x, dims = [1, 0] : tensor<2x3xf32>
  // CHECK: stablehlo.slice %arg0 [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.slice %arg0 [1:1, 2:3] : (tensor<2x3xf32>) -> tensor<0x1xf32>
  %6 = "stablehlo.slice"(%x) <{start_indices = array<i64: 1, 2>, limit_indices = array<i64: 1, 3>, strides = array<i64: 1, 1>}> : (tensor<2x3xf32>) -> tensor<0x1xf32>
  // CHECK: stablehlo.slice %arg1 [] : (tensor<f32>) -> tensor<f32>
  %7 = stablehlo.slice %s [] : (tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 2], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x4xf32>
  %8 = stablehlo.pad %x, %s, low = [0, -1], high = [1, 2], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.pad %arg2, %arg1, low = [1, 0], high = [1, 0], interior = [5, 0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %9 = stablehlo.pad %e, %s, low = [1, 0], high = [1, 0], interior = [5, 0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.concatenate %arg0, %arg2, %arg0, dim = 0 : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %10 = stablehlo.concatenate %x, %e, %x, dim = 0 : (tensor<2x3xf32>, tensor<0x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK: stablehlo.concatenate %arg0, dim = 1 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %11 = "stablehlo.concatenate"(%x) <{dimension = 1 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @broadcasts
func.func @broadcasts(%x: tensor<2x?xi8>) {
  // CHECK: stablehlo.broadcast %arg0, sizes = [3, 4] : (tensor<2x?xi8>) -> tensor<3x4x2x?xi8>
  %0 = stablehlo.broadcast %x, sizes = [3, 4] : (tensor<2x?xi8>) -> tensor<3x4x2x?xi8>
  return
}
