// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Places that come from data (I17, I19); the values follow from the specification by hand.

func.func @slices() {
  %x = stablehlo.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8]]> : tensor<3x3xi32>
  %u = stablehlo.constant dense<[[90, 91]]> : tensor<1x2xi32>
  %minus = stablehlo.constant dense<-5> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %far = stablehlo.constant dense<2000000000> : tensor<i32>
  %a = stablehlo.dynamic_slice %x, %one, %minus, sizes = [2, 2] : (tensor<3x3xi32>, tensor<i32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const %a, dense<[[3, 4], [6, 7]]> : tensor<2x2xi32>
  %b = stablehlo.dynamic_slice %x, %far, %far, sizes = [1, 2] : (tensor<3x3xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
  check.expect_eq_const %b, dense<[[7, 8]]> : tensor<1x2xi32>
  %c = stablehlo.dynamic_update_slice %x, %u, %one, %far : (tensor<3x3xi32>, tensor<1x2xi32>, tensor<i32>, tensor<i32>) -> tensor<3x3xi32>
  check.expect_eq_const %c, dense<[[0, 1, 2], [3, 90, 91], [6, 7, 8]]> : tensor<3x3xi32>
  // The operand is asked for again, so it was not written to.
  check.expect_eq_const %x, dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8]]> : tensor<3x3xi32>
  return
}

// 255 as ui8 is far behind the end, not one before the start.
func.func @unsigned_starts() {
  %x = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %i = stablehlo.constant dense<255> : tensor<ui8>
  %a = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xi32>, tensor<ui8>) -> tensor<2xi32>
  check.expect_eq_const %a, dense<[2, 3]> : tensor<2xi32>
  return
}

func.func @scatters() {
  %x = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[1], [-1], [1], [9], [3]]> : tensor<5x1xi64>
  %u = stablehlo.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  // Twice at 1; -1 and 9 are outside.
  %sum = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %b, %a : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xi32>, tensor<5x1xi64>, tensor<5xi32>) -> tensor<4xi32>
  check.expect_eq_const %sum, dense<[10, 24, 30, 45]> : tensor<4xi32>
  %last = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xi32>, tensor<5x1xi64>, tensor<5xi32>) -> tensor<4xi32>
  check.expect_eq_const %last, dense<[10, 3, 30, 5]> : tensor<4xi32>
  // 2 x + u at 1: 2 (2 * 20 + 1) + 3 = 85; at 3: 85.
  %any = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %a : tensor<i32>
    %t = stablehlo.add %s, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>} : (tensor<4xi32>, tensor<5x1xi64>, tensor<5xi32>) -> tensor<4xi32>
  check.expect_eq_const %any, dense<[10, 85, 30, 85]> : tensor<4xi32>
  return
}

// A window that hangs over the edge loses the elements outside alone.
func.func @windows_at_the_edge() {
  %x = stablehlo.constant dense<0> : tensor<3x3xi32>
  %i = stablehlo.constant dense<[[2, 1]]> : tensor<1x2xi32>
  %u = stablehlo.constant dense<[[[1, 2], [3, 4]]]> : tensor<1x2x2xi32>
  %y = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    stablehlo.return %b : tensor<i32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>} : (tensor<3x3xi32>, tensor<1x2xi32>, tensor<1x2x2xi32>) -> tensor<3x3xi32>
  check.expect_eq_const %y, dense<[[0, 0, 0], [0, 0, 0], [0, 1, 2]]> : tensor<3x3xi32>
  return
}

func.func @torch_index_select() {
  %x = stablehlo.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2, 0], [1, 1]]> : tensor<2x2xi32>
  %y = "stablehlo.torch_index_select"(%x, %i) {dim = 1 : i64, batch_dims = 1 : i64} : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %y, dense<[[2, 0], [4, 4]]> : tensor<2x2xi32>
  return
}
