// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @shapes
func.func @shapes(%x: tensor<4x8xf32>, %d: tensor<?x1xf32>, %s: tensor<f32>, %n: tensor<2xi64>, %m: tensor<3xi32>, %i: tensor<i32>) {
  // CHECK: stablehlo.dynamic_broadcast_in_dim
  %0 = stablehlo.dynamic_broadcast_in_dim %d, %m, dims = [0, 2] : (tensor<?x1xf32>, tensor<3xi32>) -> tensor<?x?x?xf32>
  // CHECK: stablehlo.dynamic_broadcast_in_dim
  %1 = stablehlo.dynamic_broadcast_in_dim %s, %n, dims = [] {known_expanding_dimensions = array<i64>, known_nonexpanding_dimensions = array<i64>} : (tensor<f32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.dynamic_iota
  %2 = stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi64>) -> tensor<?x4xui8>
  // CHECK: stablehlo.dynamic_pad
  %3 = stablehlo.dynamic_pad %x, %s, %n, %n, %n : (tensor<4x8xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.dynamic_reshape
  %4 = stablehlo.dynamic_reshape %x, %n : (tensor<4x8xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.real_dynamic_slice
  %5 = stablehlo.real_dynamic_slice %x, %n, %n, %n : (tensor<4x8xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
  // CHECK: stablehlo.get_dimension_size
  %6 = stablehlo.get_dimension_size %d, dim = 0 : (tensor<?x1xf32>) -> tensor<i32>
  // CHECK: stablehlo.set_dimension_size
  %7 = stablehlo.set_dimension_size %x, %i, dim = 1 : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x?xf32, #stablehlo.bounds<?, 8>>
  return
}

// CHECK-LABEL: func.func @numbers
func.func @numbers(%t: tensor<50x8xf32>, %i: tensor<6x1xi32>, %n: tensor<2xi32>, %x: tensor<1x9x2xf32>, %w: tensor<3x2x5xf32>, %p: tensor<1x2xi64>) {
  // CHECK: "stablehlo.dynamic_gather"
  %0 = "stablehlo.dynamic_gather"(%t, %i, %n) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false}> : (tensor<50x8xf32>, tensor<6x1xi32>, tensor<2xi32>) -> tensor<6x8xf32>
  // CHECK: "stablehlo.dynamic_conv"
  %1 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64}> : (tensor<1x9x2xf32>, tensor<3x2x5xf32>, tensor<1x2xi64>) -> tensor<1x?x5xf32>
  return
}
