// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Windows and batch normalization (I10, I21), by hand.

func.func @convolution() {
  %x = stablehlo.constant dense<[[[1], [2], [3], [4]]]> : tensor<1x4x1xi32>
  %k = stablehlo.constant dense<[[[1]], [[10]]]> : tensor<2x1x1xi32>
  // Padded: 0 1 2 3 4 0; the kernel 1, 10 is not flipped.
  %y = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x5x1xi32>
  check.expect_eq_const %y, dense<[[[10], [21], [32], [43], [4]]]> : tensor<1x5x1xi32>
  %r = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %r, dense<[[[12], [34]]]> : tensor<1x2x1xi32>
  // Dilated input 1 0 2 0 3 0 4 by dilated kernel 1 0 10.
  %d = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2], rhs_dilate = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x5x1xi32>
  check.expect_eq_const %d, dense<[[[21], [0], [32], [0], [43]]]> : tensor<1x5x1xi32>
  // Negative padding cuts off.
  %n = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[-1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xi32>, tensor<2x1x1xi32>) -> tensor<1x2x1xi32>
  check.expect_eq_const %n, dense<[[[32], [43]]]> : tensor<1x2x1xi32>
  return
}

func.func @reduce_window() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %y = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) {window_dimensions = array<i64: 2, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<1x3xi32>
  check.expect_eq_const %y, dense<[[5, 12, 16]]> : tensor<1x3xi32>
  // 2 a + b over 1, 4: 2 (2 * 0 + 1) + 4; in this order.
  %w = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %a : tensor<i32>
    %t = stablehlo.add %s, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) {window_dimensions = array<i64: 2, 1>} : (tensor<2x3xi32>, tensor<i32>) -> tensor<1x3xi32>
  check.expect_eq_const %w, dense<[[6, 9, 12]]> : tensor<1x3xi32>
  return
}

// The body is evaluated as it is written (I10): in bf16 256 + 1 is a tie, which goes to 256, twice.
func.func @running_type() {
  %x = stablehlo.constant dense<[256.0, 1.0, 1.0]> : tensor<3xbf16>
  %z = stablehlo.constant dense<0.0> : tensor<bf16>
  %y = "stablehlo.reduce_window"(%x, %z) ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %s = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %s : tensor<bf16>
  }) {window_dimensions = array<i64: 3>} : (tensor<3xbf16>, tensor<bf16>) -> tensor<1xbf16>
  check.expect_eq_const %y, dense<256.0> : tensor<1xbf16>
  return
}

// GE keeps the first of equals; what is never chosen has the initial value.
func.func @select_and_scatter() {
  %x = stablehlo.constant dense<[1, 3, 3, 2, 5]> : tensor<5xi32>
  %s = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %z = stablehlo.constant dense<7> : tensor<i32>
  %y = "stablehlo.select_and_scatter"(%x, %s, %z) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %t = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) {window_dimensions = array<i64: 3>, window_strides = array<i64: 2>} : (tensor<5xi32>, tensor<2xi32>, tensor<i32>) -> tensor<5xi32>
  check.expect_eq_const %y, dense<[7, 17, 7, 7, 27]> : tensor<5xi32>
  return
}

// Mean 2, variance 1 of 1 and 3: scale 2, offset 1, epsilon 0 give -1 and 3.
func.func @batch_norm() {
  %x = stablehlo.constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %scale = stablehlo.constant dense<2.0> : tensor<1xf32>
  %offset = stablehlo.constant dense<1.0> : tensor<1xf32>
  %y:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>)
  check.expect_eq_const %y#0, dense<[[-1.0], [3.0]]> : tensor<2x1xf32>
  check.expect_eq_const %y#1, dense<2.0> : tensor<1xf32>
  check.expect_eq_const %y#2, dense<1.0> : tensor<1xf32>
  %z = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %y#1, %y#2) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  check.expect_eq %z, %y#0 : tensor<2x1xf32>
  // Gradient (1, 0): sums 1 and -1; (2 / 2) (2 g - 1 - (-1) (x - 2)) is 0 and 0.
  %g = stablehlo.constant dense<[[1.0], [0.0]]> : tensor<2x1xf32>
  %d:3 = "stablehlo.batch_norm_grad"(%x, %scale, %y#1, %y#2, %g) {epsilon = 0.0 : f32, feature_index = 1 : i64} : (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>, tensor<1xf32>)
  check.expect_eq_const %d#0, dense<[[0.0], [0.0]]> : tensor<2x1xf32>
  check.expect_eq_const %d#1, dense<-1.0> : tensor<1xf32>
  check.expect_eq_const %d#2, dense<1.0> : tensor<1xf32>
  return
}
