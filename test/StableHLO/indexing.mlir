// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func @gathers
func.func @gathers(%table: tensor<10x4xf32>, %rows: tensor<2x3x1xi32>, %flat: tensor<5xui8>, %x: tensor<7x10x4xf8E4M3FN>, %i: tensor<7x6x1xi64>) {
  // CHECK: "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
  %0 = "stablehlo.gather"(%table, %rows) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<10x4xf32>, tensor<2x3x1xi32>) -> tensor<2x3x4xf32>
  // index_vector_dim = rank(start_indices): every index is a vector of one number.
  // CHECK: "stablehlo.gather"(%arg0, %arg2) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = true, slice_sizes = array<i64: 10, 2>}> : (tensor<10x4xf32>, tensor<5xui8>) -> tensor<10x2x5xf32>
  %1 = "stablehlo.gather"(%table, %flat) {dimension_numbers = #stablehlo.gather<index_vector_dim = 1, offset_dims = [0, 1], start_index_map = [1]>, indices_are_sorted = true, slice_sizes = array<i64: 10, 2>} : (tensor<10x4xf32>, tensor<5xui8>) -> tensor<10x2x5xf32>
  // CHECK: "stablehlo.gather"(%arg3, %arg4) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf8E4M3FN>, tensor<7x6x1xi64>) -> tensor<7x6x4xf8E4M3FN>
  %2 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}> : (tensor<7x10x4xf8E4M3FN>, tensor<7x6x1xi64>) -> tensor<7x6x4xf8E4M3FN>
  return
}

// CHECK-LABEL: func @slices
func.func @slices(%x: tensor<4x8xf32>, %u: tensor<2x3xf32>, %i: tensor<i32>, %s: tensor<f8E4M3FN>, %d: tensor<?x8xui2>) {
  // CHECK: stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [2, 3] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %0 = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 3] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.dynamic_slice %arg4, %arg2, %arg2, sizes = [2, 8] : (tensor<?x8xui2>, tensor<i32>, tensor<i32>) -> tensor<2x8xui2>
  %1 = "stablehlo.dynamic_slice"(%d, %i, %i) {slice_sizes = array<i64: 2, 8>} : (tensor<?x8xui2>, tensor<i32>, tensor<i32>) -> tensor<2x8xui2>
  // CHECK: stablehlo.dynamic_update_slice %arg0, %arg1, %arg2, %arg2 : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  %2 = stablehlo.dynamic_update_slice %x, %u, %i, %i : (tensor<4x8xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  // CHECK: stablehlo.dynamic_update_slice %arg3, %arg3 : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  %3 = stablehlo.dynamic_update_slice %s, %s : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  return
}

// CHECK-LABEL: func @scatters
func.func @scatters(%x: tensor<6x8xf32>, %i: tensor<5x1xi32>, %u: tensor<5x8xf32>) {
  // CHECK: "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  %0 = "stablehlo.scatter"(%x, %i, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<5x1xi32>, tensor<5x8xf32>) -> tensor<6x8xf32>
  // CHECK: "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<6x8xf32>, tensor<5x1xi32>) -> tensor<6x5x1xf32>
  %2 = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 0 : i64} : (tensor<6x8xf32>, tensor<5x1xi32>) -> tensor<6x5x1xf32>
  return
}
