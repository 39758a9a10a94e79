// RUN: octavo run %s --backend reference
// Elementwise operations on wide floats, integers and booleans. Rules: docs/semantics.md.

func.func @add() {
  %x = stablehlo.constant dense<[1.0, -2.5, 0x7F800000, 1.0e38]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 0.5, 1.0, 3.0e38]> : tensor<4xf32>
  %z = stablehlo.add %x, %y : tensor<4xf32>
  check.expect_eq_const %z, dense<[3.0, -2.0, 0x7F800000, 0x7F800000]> : tensor<4xf32>
  return
}

// I1: 1 + 2^-24 is the tie of 1 and 1 + 2^-23; 1 + 3 * 2^-24 that of 1 + 2^-23 and 1 + 2^-22.
func.func @add_ties_to_even() {
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y = stablehlo.constant dense<[0x33800000, 0x34400000]> : tensor<2xf32>
  %z = stablehlo.add %x, %y : tensor<2xf32>
  check.expect_eq_const %z, dense<[0x3F800000, 0x3F800002]> : tensor<2xf32>
  return
}

// I3: Inf - Inf, 0 * Inf, 0 / 0, sqrt of a negative number.
func.func @invalid_is_positive_nan() {
  %inf = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %minus = stablehlo.constant dense<-1.0> : tensor<f32>
  %a = stablehlo.subtract %inf, %inf : tensor<f32>
  %b = stablehlo.multiply %zero, %inf : tensor<f32>
  %c = stablehlo.divide %zero, %zero : tensor<f32>
  %d = stablehlo.sqrt %minus : tensor<f32>
  %ai = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<ui32>
  %bi = stablehlo.bitcast_convert %b : (tensor<f32>) -> tensor<ui32>
  %ci = stablehlo.bitcast_convert %c : (tensor<f32>) -> tensor<ui32>
  %di = stablehlo.bitcast_convert %d : (tensor<f32>) -> tensor<ui32>
  check.expect_eq_const %ai, dense<0x7FC00000> : tensor<ui32>
  check.expect_eq_const %bi, dense<0x7FC00000> : tensor<ui32>
  check.expect_eq_const %ci, dense<0x7FC00000> : tensor<ui32>
  check.expect_eq_const %di, dense<0x7FC00000> : tensor<ui32>
  return
}

func.func @subtract_multiply_divide() {
  %x = stablehlo.constant dense<[6.0, -7.0, 1.0]> : tensor<3xf64>
  %y = stablehlo.constant dense<[4.0, 2.0, 0.0]> : tensor<3xf64>
  %a = stablehlo.subtract %x, %y : tensor<3xf64>
  check.expect_eq_const %a, dense<[2.0, -9.0, 1.0]> : tensor<3xf64>
  %b = stablehlo.multiply %x, %y : tensor<3xf64>
  check.expect_eq_const %b, dense<[24.0, -14.0, 0.0]> : tensor<3xf64>
  %c = stablehlo.divide %x, %y : tensor<3xf64>
  check.expect_eq_const %c, dense<[1.5, -3.5, 0x7FF0000000000000]> : tensor<3xf64>
  return
}

// I6.
func.func @integers_wrap() {
  %x = stablehlo.constant dense<[127, -128, -7, 5]> : tensor<4xi8>
  %y = stablehlo.constant dense<[1, -1, 2, 0]> : tensor<4xi8>
  %a = stablehlo.add %x, %y : tensor<4xi8>
  check.expect_eq_const %a, dense<[-128, 127, -5, 5]> : tensor<4xi8>
  %b = stablehlo.multiply %x, %x : tensor<4xi8>
  check.expect_eq_const %b, dense<[1, 0, 49, 25]> : tensor<4xi8>
  %c = stablehlo.divide %x, %y : tensor<4xi8>
  check.expect_eq_const %c, dense<[127, -128, -3, -1]> : tensor<4xi8>
  %d = stablehlo.negate %x : tensor<4xi8>
  check.expect_eq_const %d, dense<[-127, -128, 7, -5]> : tensor<4xi8>
  %e = stablehlo.abs %x : tensor<4xi8>
  check.expect_eq_const %e, dense<[127, -128, 7, 5]> : tensor<4xi8>
  return
}

func.func @unsigned_integers() {
  %x = stablehlo.constant dense<[250, 3]> : tensor<2xui8>
  %y = stablehlo.constant dense<[10, 7]> : tensor<2xui8>
  %a = stablehlo.add %x, %y : tensor<2xui8>
  check.expect_eq_const %a, dense<[4, 10]> : tensor<2xui8>
  %b = stablehlo.maximum %x, %y : tensor<2xui8>
  check.expect_eq_const %b, dense<[250, 7]> : tensor<2xui8>
  %c = stablehlo.divide %x, %y : tensor<2xui8>
  check.expect_eq_const %c, dense<[25, 0]> : tensor<2xui8>
  return
}

func.func @small_integers() {
  %x = stablehlo.constant dense<[7, -8, 3]> : tensor<3xi4>
  %y = stablehlo.constant dense<[1, -1, 3]> : tensor<3xi4>
  %a = stablehlo.add %x, %y : tensor<3xi4>
  check.expect_eq_const %a, dense<[-8, 7, 6]> : tensor<3xi4>
  %b = stablehlo.multiply %x, %y : tensor<3xi4>
  check.expect_eq_const %b, dense<[7, -8, -7]> : tensor<3xi4>
  return
}

func.func @booleans() {
  %x = stablehlo.constant dense<[true, true, false, false, true, false, true, false, true]> : tensor<9xi1>
  %y = stablehlo.constant dense<[true, false, true, false, false, false, true, true, false]> : tensor<9xi1>
  %a = stablehlo.add %x, %y : tensor<9xi1>
  check.expect_eq_const %a, dense<[true, true, true, false, true, false, true, true, true]> : tensor<9xi1>
  %b = stablehlo.multiply %x, %y : tensor<9xi1>
  check.expect_eq_const %b, dense<[true, false, false, false, false, false, true, false, false]> : tensor<9xi1>
  %all = stablehlo.constant dense<true> : tensor<9xi1>
  %c = stablehlo.multiply %x, %all : tensor<9xi1>
  check.expect_eq %c, %x : tensor<9xi1>
  return
}

// I5: NaN propagates, -0 is less than +0.
func.func @maximum_minimum() {
  %x = stablehlo.constant dense<[1.0, -0.0, 0x7FC00000, -3.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 0.0, 1.0, -4.0]> : tensor<4xf32>
  %a = stablehlo.maximum %x, %y : tensor<4xf32>
  %b = stablehlo.minimum %x, %y : tensor<4xf32>
  %c = stablehlo.maximum %y, %x : tensor<4xf32>
  check.expect_eq_const %a, dense<[2.0, 0.0, 0x7FC00000, -3.0]> : tensor<4xf32>
  check.expect_eq_const %b, dense<[1.0, -0.0, 0x7FC00000, -4.0]> : tensor<4xf32>
  check.expect_eq %a, %c : tensor<4xf32>
  return
}

func.func @clamp() {
  %low = stablehlo.constant dense<-1.0> : tensor<f32>
  %high = stablehlo.constant dense<2.0> : tensor<f32>
  %x = stablehlo.constant dense<[-5.0, 0.5, 9.0, 0x7FC00000]> : tensor<4xf32>
  %a = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %a, dense<[-1.0, 0.5, 2.0, 0x7FC00000]> : tensor<4xf32>
  %lows = stablehlo.constant dense<[0, 0, 5]> : tensor<3xi32>
  %highs = stablehlo.constant dense<[10, 1, 9]> : tensor<3xi32>
  %y = stablehlo.constant dense<[-3, 4, 6]> : tensor<3xi32>
  %b = stablehlo.clamp %lows, %y, %highs : tensor<3xi32>
  check.expect_eq_const %b, dense<[0, 1, 6]> : tensor<3xi32>
  return
}

func.func @compare_floats() {
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00000, -0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[1.0, 1.0, 0x7FC00000, 0.0]> : tensor<4xf32>
  %eq = stablehlo.compare EQ, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %eq, dense<[true, false, false, true]> : tensor<4xi1>
  %ne = stablehlo.compare NE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %ne, dense<[false, true, true, false]> : tensor<4xi1>
  %ge = stablehlo.compare GE, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %ge, dense<[true, true, false, true]> : tensor<4xi1>
  %lt = stablehlo.compare LT, %x, %y, FLOAT : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  check.expect_eq_const %lt, dense<false> : tensor<4xi1>
  return
}

// I9: -NaN < -Inf < -1 < -0 < +0 < 1 < Inf < NaN.
func.func @compare_total_order() {
  %x = stablehlo.constant dense<[0xFFC00000, 0xFF800000, -1.0, -0.0, 0.0, 1.0, 0x7F800000]> : tensor<7xf32>
  %y = stablehlo.constant dense<[0xFF800000, -1.0, -0.0, 0.0, 1.0, 0x7F800000, 0x7FC00000]> : tensor<7xf32>
  %lt = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %lt, dense<true> : tensor<7xi1>
  %eq = stablehlo.compare EQ, %x, %x, TOTALORDER : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xi1>
  check.expect_eq_const %eq, dense<true> : tensor<7xi1>
  return
}

// The one NaN of these formats is positive: above the largest value, and equal to itself.
func.func @compare_total_order_of_nan_without_sign() {
  %x = stablehlo.constant dense<[-240.0, 0.0, 240.0]> : tensor<3xf8E4M3FNUZ>
  %nan = stablehlo.constant dense<0x80> : tensor<3xf8E4M3FNUZ>
  %lt = stablehlo.compare LT, %x, %nan, TOTALORDER : (tensor<3xf8E4M3FNUZ>, tensor<3xf8E4M3FNUZ>) -> tensor<3xi1>
  check.expect_eq_const %lt, dense<true> : tensor<3xi1>
  %eq = stablehlo.compare EQ, %nan, %nan, TOTALORDER : (tensor<3xf8E4M3FNUZ>, tensor<3xf8E4M3FNUZ>) -> tensor<3xi1>
  check.expect_eq_const %eq, dense<true> : tensor<3xi1>
  %scale = stablehlo.constant dense<0xFE> : tensor<1xf8E8M0FNU>
  %scale_nan = stablehlo.constant dense<0xFF> : tensor<1xf8E8M0FNU>
  %scale_lt = stablehlo.compare LT, %scale, %scale_nan, TOTALORDER : (tensor<1xf8E8M0FNU>, tensor<1xf8E8M0FNU>) -> tensor<1xi1>
  check.expect_eq_const %scale_lt, dense<true> : tensor<1xi1>
  return
}

func.func @compare_integers() {
  %x = stablehlo.constant dense<[-1, 5]> : tensor<2xi32>
  %y = stablehlo.constant dense<[1, 5]> : tensor<2xi32>
  %lt = stablehlo.compare LT, %x, %y, SIGNED : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi1>
  check.expect_eq_const %lt, dense<[true, false]> : tensor<2xi1>
  %u = stablehlo.constant dense<[255, 5]> : tensor<2xui8>
  %v = stablehlo.constant dense<[1, 5]> : tensor<2xui8>
  %gt = stablehlo.compare GT, %u, %v, UNSIGNED : (tensor<2xui8>, tensor<2xui8>) -> tensor<2xi1>
  check.expect_eq_const %gt, dense<[true, false]> : tensor<2xi1>
  return
}

func.func @select() {
  %p = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %one = stablehlo.constant dense<true> : tensor<i1>
  %x = stablehlo.constant dense<[1.0, 2.0, 0x7FC00001]> : tensor<3xf32>
  %y = stablehlo.constant dense<[4.0, 5.0, 6.0]> : tensor<3xf32>
  %a = stablehlo.select %p, %x, %y : tensor<3xi1>, tensor<3xf32>
  check.expect_eq_const %a, dense<[1.0, 5.0, 0x7FC00001]> : tensor<3xf32>
  %b = stablehlo.select %one, %y, %x : tensor<i1>, tensor<3xf32>
  check.expect_eq %b, %y : tensor<3xf32>
  return
}

// Values of the functions to 9 digits, rounded to f32 by hand from tables: e, 1/sqrt(2), 1/e.
func.func @functions() {
  %x = stablehlo.constant dense<[0.0, 1.0, -1.0, 0xFF800000]> : tensor<4xf32>
  %e = stablehlo.exponential %x : tensor<4xf32>
  check.expect_eq_const %e, dense<[1.0, 2.71828183, 0.367879441, 0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[4.0, 2.0, 0.0]> : tensor<3xf32>
  %r = stablehlo.rsqrt %y : tensor<3xf32>
  check.expect_eq_const %r, dense<[0.5, 0.707106781, 0x7F800000]> : tensor<3xf32>
  %s = stablehlo.sqrt %y : tensor<3xf32>
  check.expect_eq_const %s, dense<[2.0, 1.41421356, 0.0]> : tensor<3xf32>
  %b = stablehlo.constant dense<[2.0, -2.0, 4.0]> : tensor<3xf32>
  %n = stablehlo.constant dense<[10.0, 3.0, -0.5]> : tensor<3xf32>
  %p = stablehlo.power %b, %n : tensor<3xf32>
  check.expect_eq_const %p, dense<[1024.0, -8.0, 0.5]> : tensor<3xf32>
  return
}

func.func @erf() {
  %x = stablehlo.constant dense<[0.0, 0.5, -1.0]> : tensor<3xf32>
  %a = chlo.erf %x : tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %a, dense<[0.0, 0.520499878, -0.842700793]> : tensor<3xf32>
  %b = chlo.erfc %x : tensor<3xf32> -> tensor<3xf32>
  check.expect_eq_const %b, dense<[1.0, 0.479500122, 1.84270079]> : tensor<3xf32>
  return
}

// 0x3F800001 squared is 1 + 2^-22 + 2^-46, which rounds to 0x3F800002.
func.func @square() {
  %x = stablehlo.constant dense<[-1.5, -0.0, 1.0e30, 0x3F800001]> : tensor<4xf32>
  %y = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  check.expect_eq_const %y, dense<[2.25, 0.0, 0x7F800000, 0x3F800002]> : tensor<4xf32>
  return
}

func.func @zero_sized() {
  %x = stablehlo.constant dense<> : tensor<0x3xf32>
  %y = stablehlo.add %x, %x : tensor<0x3xf32>
  check.expect_eq %y, %x : tensor<0x3xf32>
  %e = stablehlo.exponential %y : tensor<0x3xf32>
  check.expect_eq %e, %x : tensor<0x3xf32>
  return
}
