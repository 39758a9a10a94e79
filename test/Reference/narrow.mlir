// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Arithmetic in the narrow formats: exact, then one rounding. Limits from the formats' standards.

// OCP FP8 table 2: E4M3 reaches 448 with spacing 32 and has no Inf. 464 is a tie, to even. A NaN for
// an overflow has the value's sign (I3).
func.func @e4m3fn() {
  %x = stablehlo.constant dense<[448.0, 448.0, 1.0, 0.001953125, -448.0]> : tensor<5xf8E4M3FN>
  %y = stablehlo.constant dense<[16.0, 32.0, 0.0625, 0.001953125, -32.0]> : tensor<5xf8E4M3FN>
  %z = stablehlo.add %x, %y : tensor<5xf8E4M3FN>
  check.expect_eq_const %z, dense<[448.0, 0x7F, 1.0, 0.00390625, 0xFF]> : tensor<5xf8E4M3FN>
  return
}

func.func @e5m2() {
  %x = stablehlo.constant dense<[57344.0, 57344.0, 1.0, 0x7C]> : tensor<4xf8E5M2>
  %y = stablehlo.constant dense<[3584.0, 4096.0, 0.125, 0xFC]> : tensor<4xf8E5M2>
  %z = stablehlo.add %x, %y : tensor<4xf8E5M2>
  check.expect_eq_const %z, dense<[57344.0, 0x7C, 1.0, 0x7E]> : tensor<4xf8E5M2>
  return
}

// Seed 001's RFC: E4M3 reaches 240 and has Inf; E3M4 reaches 15.5.
func.func @e4m3_e3m4() {
  %x = stablehlo.constant dense<[240.0, 240.0]> : tensor<2xf8E4M3>
  %y = stablehlo.constant dense<[7.5, 16.0]> : tensor<2xf8E4M3>
  %z = stablehlo.add %x, %y : tensor<2xf8E4M3>
  check.expect_eq_const %z, dense<[240.0, 0x78]> : tensor<2xf8E4M3>
  %u = stablehlo.constant dense<[15.5, 15.5, 0.015625]> : tensor<3xf8E3M4>
  %v = stablehlo.constant dense<[0.21875, 0.5, 0.5]> : tensor<3xf8E3M4>
  %s = stablehlo.add %u, %v : tensor<3xf8E3M4>
  check.expect_eq_const %s, dense<[15.5, 0x70, 0.5]> : tensor<3xf8E3M4>
  // 2^-6 * 0.5 is half of the smallest subnormal: a tie, to 0.
  %p = stablehlo.multiply %u, %v : tensor<3xf8E3M4>
  check.expect_eq_const %p, dense<[3.375, 7.75, 0.0]> : tensor<3xf8E3M4>
  return
}

// FNUZ: one NaN at the code of -0, no Inf, no -0.
func.func @fnuz() {
  %x = stablehlo.constant dense<[240.0, 1.0, -1.0]> : tensor<3xf8E4M3FNUZ>
  %y = stablehlo.constant dense<[240.0, -1.0, 0.0]> : tensor<3xf8E4M3FNUZ>
  %s = stablehlo.add %x, %y : tensor<3xf8E4M3FNUZ>
  check.expect_eq_const %s, dense<[0x80, 0.0, -1.0]> : tensor<3xf8E4M3FNUZ>
  %p = stablehlo.multiply %x, %y : tensor<3xf8E4M3FNUZ>
  check.expect_eq_const %p, dense<[0x80, -1.0, 0.0]> : tensor<3xf8E4M3FNUZ>
  return
}

// OCP MX 5.3: E2M1 has 0, 0.5, 1, 1.5, 2, 3, 4, 6 and neither Inf nor NaN: it saturates (I2). A NaN
// takes the code of -0 (I3).
func.func @e2m1() {
  %x = stablehlo.constant dense<[6.0, 1.0, 2.0, 0.5, -6.0]> : tensor<5xf4E2M1FN>
  %y = stablehlo.constant dense<[6.0, 1.5, 3.0, 0.5, -1.0]> : tensor<5xf4E2M1FN>
  %s = stablehlo.add %x, %y : tensor<5xf4E2M1FN>
  check.expect_eq_const %s, dense<[6.0, 2.0, 4.0, 1.0, -6.0]> : tensor<5xf4E2M1FN>
  %p = stablehlo.multiply %x, %y : tensor<5xf4E2M1FN>
  check.expect_eq_const %p, dense<[6.0, 1.5, 6.0, 0.0, 6.0]> : tensor<5xf4E2M1FN>
  %zero = stablehlo.constant dense<0.0> : tensor<f4E2M1FN>
  %nan = stablehlo.divide %zero, %zero : tensor<f4E2M1FN>
  check.expect_eq_const %nan, dense<0x8> : tensor<f4E2M1FN>
  return
}

func.func @fp6() {
  %x = stablehlo.constant dense<[28.0, 0.0625, 5.0]> : tensor<3xf6E3M2FN>
  %y = stablehlo.constant dense<[28.0, 0.5, 0.5]> : tensor<3xf6E3M2FN>
  %s = stablehlo.add %x, %y : tensor<3xf6E3M2FN>
  check.expect_eq_const %s, dense<[28.0, 0.5, 6.0]> : tensor<3xf6E3M2FN>
  %u = stablehlo.constant dense<[7.5, 0.125, -1.0]> : tensor<3xf6E2M3FN>
  %v = stablehlo.constant dense<[1.0, 0.125, 0.125]> : tensor<3xf6E2M3FN>
  %t = stablehlo.add %u, %v : tensor<3xf6E2M3FN>
  check.expect_eq_const %t, dense<[7.5, 0.25, -0.875]> : tensor<3xf6E2M3FN>
  return
}

// I4: scales have no zero and no sign.
func.func @e8m0() {
  %x = stablehlo.constant dense<[2.0, 1.0, 4.0]> : tensor<3xf8E8M0FNU>
  %y = stablehlo.constant dense<[8.0, 1.0, 2.0]> : tensor<3xf8E8M0FNU>
  %p = stablehlo.multiply %x, %y : tensor<3xf8E8M0FNU>
  check.expect_eq_const %p, dense<[16.0, 1.0, 8.0]> : tensor<3xf8E8M0FNU>
  %d = stablehlo.subtract %x, %y : tensor<3xf8E8M0FNU>
  check.expect_eq_const %d, dense<[0xFF, 0xFF, 2.0]> : tensor<3xf8E8M0FNU>
  return
}

func.func @bf16_f16() {
  %x = stablehlo.constant dense<[1.0, 256.0]> : tensor<2xbf16>
  %y = stablehlo.constant dense<[0.00390625, 1.0]> : tensor<2xbf16>
  %s = stablehlo.add %x, %y : tensor<2xbf16>
  check.expect_eq_const %s, dense<[1.0, 256.0]> : tensor<2xbf16>
  %u = stablehlo.constant dense<[65504.0, 2048.0]> : tensor<2xf16>
  %v = stablehlo.constant dense<[16.0, 1.0]> : tensor<2xf16>
  %t = stablehlo.add %u, %v : tensor<2xf16>
  check.expect_eq_const %t, dense<[0x7C00, 2048.0]> : tensor<2xf16>
  return
}

func.func @negate_and_abs_of_nan() {
  %x = stablehlo.constant dense<[0x80, 0x81]> : tensor<2xf8E5M2FNUZ>
  %n = stablehlo.negate %x : tensor<2xf8E5M2FNUZ>
  check.expect_eq_const %n, dense<[0x80, 0x01]> : tensor<2xf8E5M2FNUZ>
  %a = stablehlo.abs %x : tensor<2xf8E5M2FNUZ>
  check.expect_eq_const %a, dense<[0x80, 0x01]> : tensor<2xf8E5M2FNUZ>
  return
}
