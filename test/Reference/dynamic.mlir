// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Shapes, sizes and paddings as operands (I24), by hand.

func.func @shapes() {
  %x = stablehlo.constant dense<[[1, 2, 3]]> : tensor<1x3xi32>
  %n = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  %m = stablehlo.constant dense<[3, 1]> : tensor<2xi32>
  %b = stablehlo.dynamic_broadcast_in_dim %x, %n, dims = [0, 1] : (tensor<1x3xi32>, tensor<2xi64>) -> tensor<?x?xi32>
  %bs = stablehlo.reshape %b : (tensor<?x?xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %bs, dense<[[1, 2, 3], [1, 2, 3]]> : tensor<2x3xi32>
  %i = stablehlo.dynamic_iota %n, dim = 1 : (tensor<2xi64>) -> tensor<?x?xi32>
  %is = stablehlo.reshape %i : (tensor<?x?xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %is, dense<[[0, 1, 2], [0, 1, 2]]> : tensor<2x3xi32>
  %r = stablehlo.dynamic_reshape %x, %m : (tensor<1x3xi32>, tensor<2xi32>) -> tensor<?x?xi32>
  %s = stablehlo.get_dimension_size %r, dim = 0 : (tensor<?x?xi32>) -> tensor<i32>
  check.expect_eq_const %s, dense<3> : tensor<i32>
  return
}

func.func @pads_and_slices() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %z = stablehlo.constant dense<9> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<1xi64>
  %minus = stablehlo.constant dense<-1> : tensor<1xi64>
  %p = stablehlo.dynamic_pad %x, %z, %one, %minus, %one : (tensor<3xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<5xi32>
  check.expect_eq_const %p, dense<[9, 1, 9, 2, 9]> : tensor<5xi32>
  %five = stablehlo.constant dense<5> : tensor<1xi64>
  %two = stablehlo.constant dense<2> : tensor<1xi64>
  %s = stablehlo.real_dynamic_slice %p, %one, %five, %two : (tensor<5xi32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xi32>
  check.expect_eq_const %s, dense<[1, 2]> : tensor<2xi32>
  return
}

// Beyond the size there is nothing: the sum is 3.
func.func @set_dimension_size() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %y = stablehlo.set_dimension_size %x, %two, dim = 0 : (tensor<3xi32>, tensor<i32>) -> tensor<?xi32, #stablehlo.bounds<3>>
  %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<?xi32, #stablehlo.bounds<3>>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %s, dense<3> : tensor<i32>
  %n = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?xi32, #stablehlo.bounds<3>>) -> tensor<i32>
  check.expect_eq %n, %two : tensor<i32>
  return
}

func.func @places() {
  %t = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %n = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %g = "stablehlo.dynamic_gather"(%t, %i, %n) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>} : (tensor<3x2xi32>, tensor<2x1xi32>, tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %g, dense<[[5, 6], [1, 2]]> : tensor<2x2xi32>
  %x = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi32>
  %k = stablehlo.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi32>
  %p = stablehlo.constant dense<[[1, 1]]> : tensor<1x2xi64>
  %c = "stablehlo.dynamic_conv"(%x, %k, %p) {dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<2x1x1xi32>, tensor<1x2xi64>) -> tensor<1x5x1xi32>
  check.expect_eq_const %c, dense<[[[10], [21], [32], [43], [4]]]> : tensor<1x5x1xi32>
  return
}
