// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Scaled tensors (I13, I14). Scales and elements by hand from OCP MX 6.3.

// Row 0: amax 6, 2^2 is its power of two and the largest of E2M1: scale 1. Row 1: amax 1.5, scale
// 2^(0 - 2); 1.5 / 0.25 = 6, 1 -> 4, 0.3 -> 1.2 -> 1, -0.1 -> -0.4 -> -0.5. Row 2 is zero: byte 0.
func.func @quantize_mxfp4() {
  %x = stablehlo.constant dense<[[6.0, 2.5, -5.0, 0.2], [1.5, 1.0, 0.3, -0.1], [0.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf32>
  %q = octavo.quantize %x, rule = floor : tensor<3x4xf32> -> !octavo.scaled<3x4xf4E2M1FN, scale f8E8M0FNU, block [1, 4]>
  %e, %s = octavo.unpack %q : (!octavo.scaled<3x4xf4E2M1FN, scale f8E8M0FNU, block [1, 4]>) -> (tensor<3x4xf4E2M1FN>, tensor<3x1xf8E8M0FNU>)
  check.expect_eq_const %e, dense<[[6.0, 2.0, -4.0, 0.0], [6.0, 4.0, 1.0, -0.5], [0.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf4E2M1FN>
  %b = stablehlo.bitcast_convert %s : (tensor<3x1xf8E8M0FNU>) -> tensor<3x1xui8>
  check.expect_eq_const %b, dense<[[127], [125], [0]]> : tensor<3x1xui8>
  %d = octavo.dequantize %q : !octavo.scaled<3x4xf4E2M1FN, scale f8E8M0FNU, block [1, 4]> -> tensor<3x4xf32>
  check.expect_eq_const %d, dense<[[6.0, 2.0, -4.0, 0.0], [1.5, 1.0, 0.25, -0.125], [0.0, 0.0, 0.0, 0.0]]> : tensor<3x4xf32>
  %p = octavo.pack %e, %s : (tensor<3x4xf4E2M1FN>, tensor<3x1xf8E8M0FNU>) -> !octavo.scaled<3x4xf4E2M1FN, scale f8E8M0FNU, block [1, 4]>
  %f = octavo.dequantize %p : !octavo.scaled<3x4xf4E2M1FN, scale f8E8M0FNU, block [1, 4]> -> tensor<3x4xf32>
  check.expect_eq %f, %d : tensor<3x4xf32>
  return
}

// The five rules on amax 7 = 1.75 * 2^2 in E2M1 (emax 2, max 6): floor 2^0, and 7 saturates at 6;
// ceil 2^1; even bumps from 1.75 on: 2^1; round-up: 7 / 6 > 1, 2^1; nearest: 7 / 4 = 1.75 to 2.
func.func @scale_rules() {
  %x = stablehlo.constant dense<[7.0, 3.0]> : tensor<2xf32>
  %a = octavo.quantize %x, rule = floor : tensor<2xf32> -> !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]>
  %b = octavo.quantize %x, rule = ceil : tensor<2xf32> -> !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]>
  %c = octavo.quantize %x, rule = even : tensor<2xf32> -> !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]>
  %d = octavo.quantize %x, rule = round-up : tensor<2xf32> -> !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]>
  %e = octavo.quantize %x, rule = nearest : tensor<2xf32> -> !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]>
  %av = octavo.dequantize %a : !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]> -> tensor<2xf32>
  %bv = octavo.dequantize %b : !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]> -> tensor<2xf32>
  %cv = octavo.dequantize %c : !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]> -> tensor<2xf32>
  %dv = octavo.dequantize %d : !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]> -> tensor<2xf32>
  %ev = octavo.dequantize %e : !octavo.scaled<2xf4E2M1FN, scale f8E8M0FNU, block [2]> -> tensor<2xf32>
  check.expect_eq_const %av, dense<[6.0, 3.0]> : tensor<2xf32>
  check.expect_eq_const %bv, dense<[8.0, 3.0]> : tensor<2xf32>
  check.expect_eq_const %cv, dense<[8.0, 3.0]> : tensor<2xf32>
  check.expect_eq_const %dv, dense<[8.0, 3.0]> : tensor<2xf32>
  check.expect_eq_const %ev, dense<[8.0, 3.0]> : tensor<2xf32>
  return
}

// torchao-rceil rounds up: amax 7 in E2M1 has 7 / 6 > 1, scale 2^1; 7 / 2 = 3.5 is a tie of 3 and 4,
// whose even code is 4's; 3 / 2 = 1.5. The preset says all that the settings beside it say.
func.func @preset() {
  %x = stablehlo.constant dense<7.0> : tensor<1x32xf32>
  %a = octavo.quantize %x, preset = "torchao-rceil" : tensor<1x32xf32> -> !octavo.scaled<1x32xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>
  %b = octavo.quantize %x, rule = round-up, non_finite = propagate : tensor<1x32xf32> -> !octavo.scaled<1x32xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>
  %av = octavo.dequantize %a : !octavo.scaled<1x32xf4E2M1FN, scale f8E8M0FNU, block [1, 32]> -> tensor<1x32xf32>
  %bv = octavo.dequantize %b : !octavo.scaled<1x32xf4E2M1FN, scale f8E8M0FNU, block [1, 32]> -> tensor<1x32xf32>
  check.expect_eq_const %av, dense<8.0> : tensor<1x32xf32>
  check.expect_eq %av, %bv : tensor<1x32xf32>
  return
}

// A setting that no rule gives: zero_block is the byte of a block of zeros (S12).
func.func @zero_block() {
  %x = stablehlo.constant dense<0.0> : tensor<1x32xf32>
  %a = octavo.quantize %x, rule = floor, zero_block = 1.0 : tensor<1x32xf32> -> !octavo.scaled<1x32xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>
  %e, %s = octavo.unpack %a : (!octavo.scaled<1x32xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>) -> (tensor<1x32xf4E2M1FN>, tensor<1x1xf8E8M0FNU>)
  check.expect_eq_const %s, dense<1.0> : tensor<1x1xf8E8M0FNU>
  return
}

// A NaN makes its block NaN when asked to; the other block keeps its values.
func.func @propagate_nan() {
  %x = stablehlo.constant dense<[[1.0, 0x7FC00000], [1.0, 2.0]]> : tensor<2x2xf32>
  %q = octavo.quantize %x, rule = floor, non_finite = propagate : tensor<2x2xf32> -> !octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [1, 2]>
  %e, %s = octavo.unpack %q : (!octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [1, 2]>) -> (tensor<2x2xf8E4M3FN>, tensor<2x1xf8E8M0FNU>)
  check.expect_eq_const %s, dense<[[0xFF], [0.0078125]]> : tensor<2x1xf8E8M0FNU>
  %d = octavo.dequantize %q : !octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [1, 2]> -> tensor<2x2xf32>
  %self = stablehlo.compare EQ, %d, %d, FLOAT : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xi1>
  check.expect_eq_const %self, dense<[[false, false], [true, true]]> : tensor<2x2xi1>
  return
}

// INT8 of the standard: units of 2^-6. amax 1.5: scale 1; 1.5 * 64 = 96.
func.func @mxint8() {
  %x = stablehlo.constant dense<[1.5, -0.5, 0.015625, 0.0]> : tensor<4xf32>
  %q = octavo.quantize %x, rule = floor : tensor<4xf32> -> !octavo.scaled<4xi8, scale f8E8M0FNU, block [4]>
  %e, %s = octavo.unpack %q : (!octavo.scaled<4xi8, scale f8E8M0FNU, block [4]>) -> (tensor<4xi8>, tensor<1xf8E8M0FNU>)
  check.expect_eq_const %e, dense<[96, -32, 1, 0]> : tensor<4xi8>
  check.expect_eq_const %s, dense<1.0> : tensor<1xf8E8M0FNU>
  return
}

// NVFP4: outer = amax / (6 * 448). 2688 makes it 1; the block scale is 2688 / 6 = 448.
func.func @nvfp4() {
  %x = stablehlo.constant dense<[[2688.0, -448.0, 224.0, 0.0], [6.0, 3.0, 1.0, 0.5]]> : tensor<2x4xf32>
  %q = octavo.quantize %x, rule = nearest : tensor<2x4xf32> -> !octavo.scaled<2x4xf4E2M1FN, scale f8E4M3FN, block [1, 4], outer f32>
  %e, %s, %o = octavo.unpack %q : (!octavo.scaled<2x4xf4E2M1FN, scale f8E4M3FN, block [1, 4], outer f32>) -> (tensor<2x4xf4E2M1FN>, tensor<2x1xf8E4M3FN>, tensor<f32>)
  check.expect_eq_const %e, dense<[[6.0, -1.0, 0.5, 0.0], [6.0, 3.0, 1.0, 0.5]]> : tensor<2x4xf4E2M1FN>
  check.expect_eq_const %s, dense<[[448.0], [1.0]]> : tensor<2x1xf8E4M3FN>
  check.expect_eq_const %o, dense<1.0> : tensor<f32>
  return
}

// Blocks of 2 on the left and 3 on the right, the last of both short: K = 5 is cut at 2, 3 and 4.
// Left: (1, 2, 3, 4, 6) with scales 1, 2, 0.5: (1, 2, 6, 8, 3). Right: (1, 1, 1, 2, 2) with scales
// 4, 1: (4, 4, 4, 2, 2). 4 + 8 + 24 + 16 + 6 = 58.
func.func @dot_of_different_blocks() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0, 4.0, 6.0]]> : tensor<1x5xf4E2M1FN>
  %as = stablehlo.constant dense<[[1.0, 2.0, 0.5]]> : tensor<1x3xf8E8M0FNU>
  %b = stablehlo.constant dense<[[1.0], [1.0], [1.0], [2.0], [2.0]]> : tensor<5x1xf8E5M2>
  %bs = stablehlo.constant dense<[[4.0], [1.0]]> : tensor<2x1xf8E8M0FNU>
  %x = octavo.pack %a, %as : (tensor<1x5xf4E2M1FN>, tensor<1x3xf8E8M0FNU>) -> !octavo.scaled<1x5xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>
  %y = octavo.pack %b, %bs : (tensor<5x1xf8E5M2>, tensor<2x1xf8E8M0FNU>) -> !octavo.scaled<5x1xf8E5M2, scale f8E8M0FNU, block [3, 1]>
  %z = octavo.dot_general %x, %y, contracting_dims = [1] x [0] : (!octavo.scaled<1x5xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>, !octavo.scaled<5x1xf8E5M2, scale f8E8M0FNU, block [3, 1]>) -> tensor<1x1xf32>
  check.expect_eq_const %z, dense<58.0> : tensor<1x1xf32>
  %p = stablehlo.constant dense<[[4.0], [4.0], [4.0], [2.0], [2.0]]> : tensor<5x1xf32>
  %w = octavo.dot_general %x, %p, contracting_dims = [1] x [0] : (!octavo.scaled<1x5xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>, tensor<5x1xf32>) -> tensor<1x1xbf16>
  check.expect_eq_const %w, dense<58.0> : tensor<1x1xbf16>
  return
}

// A NaN scale makes the product NaN where it takes part, and nowhere else.
func.func @dot_with_nan_scale() {
  %a = stablehlo.constant dense<[[0.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf4E2M1FN>
  %as = stablehlo.constant dense<[[0xFF], [1.0]]> : tensor<2x1xf8E8M0FNU>
  %x = octavo.pack %a, %as : (tensor<2x2xf4E2M1FN>, tensor<2x1xf8E8M0FNU>) -> !octavo.scaled<2x2xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>
  %ones = stablehlo.constant dense<1.0> : tensor<2x1xf8E8M0FNU>
  %y = octavo.pack %a, %ones : (tensor<2x2xf4E2M1FN>, tensor<2x1xf8E8M0FNU>) -> !octavo.scaled<2x2xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>
  %z = octavo.dot_general %x, %y, contracting_dims = [1] x [1] : (!octavo.scaled<2x2xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>, !octavo.scaled<2x2xf4E2M1FN, scale f8E8M0FNU, block [1, 2]>) -> tensor<2x2xf32>
  check.expect_eq_const %z, dense<[[0x7FC00000, 0x7FC00000], [0.0, 2.0]]> : tensor<2x2xf32>
  return
}

// Rounding and overflow by name: 1.0625 is the tie of 1 and 1.125; 1000 is beyond 448.
func.func @convert() {
  %x = stablehlo.constant dense<[1.0625, -1.0625, 1000.0, 0xFF800000]> : tensor<4xf32>
  %a = octavo.convert %x, overflow = saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  check.expect_eq_const %a, dense<[1.0, -1.0, 448.0, -448.0]> : tensor<4xf8E4M3FN>
  %b = octavo.convert %x, rounding = ties-to-away, overflow = saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  check.expect_eq_const %b, dense<[1.125, -1.125, 448.0, -448.0]> : tensor<4xf8E4M3FN>
  %c = octavo.convert %x, rounding = toward-negative, overflow = saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  check.expect_eq_const %c, dense<[1.0, -1.125, 448.0, -448.0]> : tensor<4xf8E4M3FN>
  // 1.0625 lies half way: it rounds away from zero where r < 2^31.
  %r = stablehlo.constant dense<[2147483647, 2147483648, 0, 0]> : tensor<4xui32>
  %d = octavo.convert %x random(%r : tensor<4xui32>), rounding = stochastic, overflow = saturate : tensor<4xf32> -> tensor<4xf8E4M3FN>
  check.expect_eq_const %d, dense<[1.125, -1.0, 448.0, -448.0]> : tensor<4xf8E4M3FN>
  return
}

func.func @zero_sized() {
  %x = stablehlo.constant dense<> : tensor<0x4xf32>
  %q = octavo.quantize %x, rule = floor : tensor<0x4xf32> -> !octavo.scaled<0x4xf8E4M3FN, scale f8E8M0FNU, block [1, 4]>
  %d = octavo.dequantize %q : !octavo.scaled<0x4xf8E4M3FN, scale f8E8M0FNU, block [1, 4]> -> tensor<0x4xf32>
  check.expect_eq %d, %x : tensor<0x4xf32>
  return
}
