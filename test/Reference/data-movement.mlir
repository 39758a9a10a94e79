// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Elements change places and keep their codes.

func.func @iota() {
  %a = stablehlo.iota dim = 1 : tensor<2x3xi32>
  check.expect_eq_const %a, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  %b = stablehlo.iota dim = 0 : tensor<2x3xf32>
  check.expect_eq_const %b, dense<[[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]> : tensor<2x3xf32>
  // I17: 17 is a tie of 16 and 18.
  %c = stablehlo.iota dim = 0 : tensor<20xf8E4M3FN>
  check.expect_eq_const %c, dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0, 16.0, 16.0, 18.0, 20.0]> : tensor<20xf8E4M3FN>
  return
}

func.func @broadcast_in_dim() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %a = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %a, dense<[[1, 1, 1], [2, 2, 2]]> : tensor<2x3xi32>
  %b = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<2xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %b, dense<[[1, 2], [1, 2], [1, 2]]> : tensor<3x2xi32>
  %s = stablehlo.constant dense<1.5> : tensor<f4E2M1FN>
  %c = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f4E2M1FN>) -> tensor<2x2xf4E2M1FN>
  check.expect_eq_const %c, dense<1.5> : tensor<2x2xf4E2M1FN>
  return
}

func.func @reshape_transpose() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi16>
  %a = stablehlo.reshape %x : (tensor<2x3xi16>) -> tensor<3x2xi16>
  check.expect_eq_const %a, dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi16>
  %b = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xi16>) -> tensor<3x2xi16>
  check.expect_eq_const %b, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi16>
  return
}

func.func @reverse() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %a = stablehlo.reverse %x, dims = [1] : tensor<2x3xi32>
  check.expect_eq_const %a, dense<[[3, 2, 1], [6, 5, 4]]> : tensor<2x3xi32>
  return
}

func.func @slice() {
  %x = stablehlo.constant dense<[[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]> : tensor<3x4xi64>
  %a = stablehlo.slice %x [1:3, 0:4:3] : (tensor<3x4xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %a, dense<[[5, 8], [9, 12]]> : tensor<2x2xi64>
  %b = stablehlo.slice %x [1:1, 0:4] : (tensor<3x4xi64>) -> tensor<0x4xi64>
  check.expect_eq_const %b, dense<> : tensor<0x4xi64>
  return
}

func.func @pad() {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf8E5M2>
  %p = stablehlo.constant dense<0.5> : tensor<f8E5M2>
  %a = stablehlo.pad %x, %p, low = [1], high = [2], interior = [1] : (tensor<2xf8E5M2>, tensor<f8E5M2>) -> tensor<6xf8E5M2>
  check.expect_eq_const %a, dense<[0.5, 1.0, 0.5, 2.0, 0.5, 0.5]> : tensor<6xf8E5M2>
  %y = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %q = stablehlo.constant dense<9> : tensor<i32>
  %b = stablehlo.pad %y, %q, low = [-1], high = [-1], interior = [0] : (tensor<4xi32>, tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %b, dense<[2, 3]> : tensor<2xi32>
  return
}

func.func @concatenate() {
  %x = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %y = stablehlo.constant dense<[[3, 4], [5, 6]]> : tensor<2x2xi32>
  %a = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x1xi32>, tensor<2x2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %a, dense<[[1, 3, 4], [2, 5, 6]]> : tensor<2x3xi32>
  return
}

// Rows of a table; -1 and 7 are clamped into it (I17).
func.func @gather_rows() {
  %table = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %i = stablehlo.constant dense<[[2], [0], [-1], [7]]> : tensor<4x1xi32>
  %a = "stablehlo.gather"(%table, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, 2>
  }> : (tensor<3x2xf32>, tensor<4x1xi32>) -> tensor<4x2xf32>
  check.expect_eq_const %a, dense<[[5.0, 6.0], [1.0, 2.0], [1.0, 2.0], [5.0, 6.0]]> : tensor<4x2xf32>
  return
}

func.func @gather_batches() {
  %x = stablehlo.constant dense<[[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]> : tensor<3x4xi8>
  %i = stablehlo.constant dense<[[[0], [3]], [[1], [1]], [[2], [0]]]> : tensor<3x2x1xi64>
  %a = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, 1>
  }> : (tensor<3x4xi8>, tensor<3x2x1xi64>) -> tensor<3x2xi8>
  check.expect_eq_const %a, dense<[[0, 3], [5, 5], [10, 8]]> : tensor<3x2xi8>
  return
}
