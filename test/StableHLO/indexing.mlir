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
