// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// convert (I7), bitcast_convert (I8), reduce_precision (I9).

// OCP FP8: 464 is the tie of 448 and 480, which E4M3FN does not have.
func.func @f32_to_e4m3fn() {
  %x = stablehlo.constant dense<[448.0, 464.0, 464.1, -1.0e9, 0x7F800000, 1.0625, 0.0009765625]> : tensor<7xf32>
  %y = stablehlo.convert %x : (tensor<7xf32>) -> tensor<7xf8E4M3FN>
  check.expect_eq_const %y, dense<[448.0, 448.0, 0x7F, 0xFF, 0x7F, 1.0, 0.0]> : tensor<7xf8E4M3FN>
  return
}

func.func @f32_to_e5m2_saturates_nothing() {
  %x = stablehlo.constant dense<[57344.0, 61439.0, 61440.0, -1.0e9]> : tensor<4xf32>
  %y = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xf8E5M2>
  check.expect_eq_const %y, dense<[57344.0, 57344.0, 0x7C, 0xFC]> : tensor<4xf8E5M2>
  return
}

// F4 and F6 have no Inf and saturate.
func.func @f32_to_fp4_fp6() {
  %x = stablehlo.constant dense<[0.25, 0.75, 2.5, 5.0, 100.0, 0xFF800000]> : tensor<6xf32>
  %y = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xf4E2M1FN>
  check.expect_eq_const %y, dense<[0.0, 1.0, 2.0, 4.0, 6.0, -6.0]> : tensor<6xf4E2M1FN>
  %z = stablehlo.convert %x : (tensor<6xf32>) -> tensor<6xf6E3M2FN>
  check.expect_eq_const %z, dense<[0.25, 0.75, 2.5, 5.0, 28.0, -28.0]> : tensor<6xf6E3M2FN>
  return
}

// ml_dtypes: a tie (1.5 * 2^k) goes up; 0, -0 and negative values are NaN.
func.func @f32_to_e8m0() {
  %x = stablehlo.constant dense<[1.0, 1.49, 1.5, 3.0, 0.0, -0.0, -2.0, 0x7F800000]> : tensor<8xf32>
  %y = stablehlo.convert %x : (tensor<8xf32>) -> tensor<8xf8E8M0FNU>
  check.expect_eq_const %y, dense<[1.0, 1.0, 2.0, 4.0, 0xFF, 0xFF, 0xFF, 0xFF]> : tensor<8xf8E8M0FNU>
  return
}

// One rounding from f64: 1.0625 + 2^-30 is above the tie of 1 and 1.125; rounding to f32 first
// would land on the tie.
func.func @f64_rounds_once() {
  %x = stablehlo.constant dense<[1.0625000009313226, 1.0625]> : tensor<2xf64>
  %y = stablehlo.convert %x : (tensor<2xf64>) -> tensor<2xf8E4M3FN>
  check.expect_eq_const %y, dense<[1.125, 1.0]> : tensor<2xf8E4M3FN>
  return
}

func.func @float_to_integer() {
  %x = stablehlo.constant dense<[1.9, -1.9, 300.0, -300.0, 0x7FC00000]> : tensor<5xf32>
  %a = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi8>
  check.expect_eq_const %a, dense<[1, -1, 127, -128, 0]> : tensor<5xi8>
  %b = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xui8>
  check.expect_eq_const %b, dense<[1, 0, 255, 0, 0]> : tensor<5xui8>
  %c = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi1>
  check.expect_eq_const %c, dense<true> : tensor<5xi1>
  return
}

func.func @integer_to_float() {
  %x = stablehlo.constant dense<[16777217, -3, 17]> : tensor<3xi32>
  %a = stablehlo.convert %x : (tensor<3xi32>) -> tensor<3xf32>
  check.expect_eq_const %a, dense<[16777216.0, -3.0, 17.0]> : tensor<3xf32>
  %b = stablehlo.convert %x : (tensor<3xi32>) -> tensor<3xf8E4M3FN>
  check.expect_eq_const %b, dense<[0x7F, -3.0, 16.0]> : tensor<3xf8E4M3FN>
  %t = stablehlo.constant dense<[true, false]> : tensor<2xi1>
  %c = stablehlo.convert %t : (tensor<2xi1>) -> tensor<2xf32>
  check.expect_eq_const %c, dense<[1.0, 0.0]> : tensor<2xf32>
  %d = stablehlo.convert %t : (tensor<2xi1>) -> tensor<2xi32>
  check.expect_eq_const %d, dense<[1, 0]> : tensor<2xi32>
  return
}

func.func @integer_to_integer() {
  %x = stablehlo.constant dense<[384, -1, 7]> : tensor<3xi16>
  %a = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi8>
  check.expect_eq_const %a, dense<[-128, -1, 7]> : tensor<3xi8>
  %b = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xi64>
  check.expect_eq_const %b, dense<[384, -1, 7]> : tensor<3xi64>
  %c = stablehlo.convert %x : (tensor<3xi16>) -> tensor<3xui4>
  check.expect_eq_const %c, dense<[0, 15, 7]> : tensor<3xui4>
  return
}

func.func @bitcast() {
  %x = stablehlo.constant dense<[0x04030201, 0x3F800000]> : tensor<2xui32>
  %a = stablehlo.bitcast_convert %x : (tensor<2xui32>) -> tensor<2x4xui8>
  check.expect_eq_const %a, dense<[[1, 2, 3, 4], [0, 0, 128, 63]]> : tensor<2x4xui8>
  %b = stablehlo.bitcast_convert %a : (tensor<2x4xui8>) -> tensor<2xf32>
  check.expect_eq_const %b, dense<[0x04030201, 1.0]> : tensor<2xf32>
  %s = stablehlo.constant dense<[1.0, 0.5, 2.0]> : tensor<3xf8E8M0FNU>
  %c = stablehlo.bitcast_convert %s : (tensor<3xf8E8M0FNU>) -> tensor<3xui8>
  check.expect_eq_const %c, dense<[127, 126, 128]> : tensor<3xui8>
  return
}

// bf16's fields: 1 + 2^-8 is a tie, to even; 3.4e38 overflows to Inf. E4M3's: 250 > 248 is Inf.
func.func @reduce_precision() {
  %x = stablehlo.constant dense<[1.00390625, 3.4e38, -1.01171875]> : tensor<3xf32>
  %a = stablehlo.reduce_precision %x, format = e8m7 : tensor<3xf32>
  check.expect_eq_const %a, dense<[1.0, 0x7F800000, -1.015625]> : tensor<3xf32>
  %y = stablehlo.constant dense<[247.0, 250.0, 0.0009765625]> : tensor<3xf32>
  %b = stablehlo.reduce_precision %y, format = e4m3 : tensor<3xf32>
  check.expect_eq_const %b, dense<[240.0, 0x7F800000, 0.0]> : tensor<3xf32>
  return
}
