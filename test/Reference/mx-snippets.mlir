// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Microscaling written out in StableHLO, as the RFC "Microscaling (MX) types in XLA" describes it:
// dequantize is convert, broadcast the scales, multiply; quantize follows OCP MX 6.3.

func.func private @dequantize(%q: tensor<1x64xf8E4M3FN>, %s: tensor<1x2xf8E8M0FNU>) -> tensor<1x64xf16> {
  %x = stablehlo.convert %q : (tensor<1x64xf8E4M3FN>) -> tensor<1x64xf16>
  %y = stablehlo.convert %s : (tensor<1x2xf8E8M0FNU>) -> tensor<1x2xf16>
  %b = stablehlo.broadcast_in_dim %y, dims = [0, 1] : (tensor<1x2xf16>) -> tensor<1x2x32xf16>
  %r = stablehlo.reshape %b : (tensor<1x2x32xf16>) -> tensor<1x64xf16>
  %z = stablehlo.multiply %x, %r : tensor<1x64xf16>
  return %z : tensor<1x64xf16>
}

// scale = 2^(floor(log2 amax) - emax): the exponent bits of amax in f32, shifted down to E8M0's code
// by reduce_precision to no trailing bits, toward zero by clearing them; elements are clamped to
// +-448, as convert does not saturate.
func.func private @quantize(%x: tensor<1x64xf32>) -> (tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %blocks = stablehlo.reshape %x : (tensor<1x64xf32>) -> tensor<1x2x32xf32>
  %abs = stablehlo.abs %blocks : tensor<1x2x32xf32>
  %amax = stablehlo.reduce(%abs init: %zero) applies stablehlo.maximum across dimensions = [2] : (tensor<1x2x32xf32>, tensor<f32>) -> tensor<1x2xf32>
  %bits = stablehlo.bitcast_convert %amax : (tensor<1x2xf32>) -> tensor<1x2xui32>
  %exponent = stablehlo.constant dense<0x7F800000> : tensor<1x2xui32>
  %masked = stablehlo.and %bits, %exponent : tensor<1x2xui32>
  %power = stablehlo.bitcast_convert %masked : (tensor<1x2xui32>) -> tensor<1x2xf32>
  %emax = stablehlo.constant dense<256.0> : tensor<1x2xf32>
  %scale = stablehlo.divide %power, %emax : tensor<1x2xf32>
  %s = stablehlo.convert %scale : (tensor<1x2xf32>) -> tensor<1x2xf8E8M0FNU>
  %wide = stablehlo.broadcast_in_dim %scale, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<1x2x32xf32>
  %scaled = stablehlo.divide %blocks, %wide : tensor<1x2x32xf32>
  %low = stablehlo.constant dense<-448.0> : tensor<f32>
  %high = stablehlo.constant dense<448.0> : tensor<f32>
  %clamped = stablehlo.clamp %low, %scaled, %high : (tensor<f32>, tensor<1x2x32xf32>, tensor<f32>) -> tensor<1x2x32xf32>
  %e = stablehlo.convert %clamped : (tensor<1x2x32xf32>) -> tensor<1x2x32xf8E4M3FN>
  %q = stablehlo.reshape %e : (tensor<1x2x32xf8E4M3FN>) -> tensor<1x64xf8E4M3FN>
  return %q, %s : tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU>
}

// Block 0 is 0, 1, ..., 31: amax 31 = 1.9375 * 2^4, scale 2^(4 - 8), and 31 * 16 = 496 is clamped to
// 448, that is 28. 17 * 16 = 272 is the tie of 256 and 288: 256, that is 16. Block 1 has one value.
func.func @round_trip() {
  %i = stablehlo.iota dim = 1 : tensor<1x32xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %three = stablehlo.constant dense<-3.0> : tensor<1x1xf32>
  %block = stablehlo.pad %three, %zero, low = [0, 5], high = [0, 26], interior = [0, 0] : (tensor<1x1xf32>, tensor<f32>) -> tensor<1x32xf32>
  %x = stablehlo.concatenate %i, %block, dim = 1 : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x64xf32>
  %q, %s = call @quantize(%x) : (tensor<1x64xf32>) -> (tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU>)
  check.expect_eq_const %s, dense<[[0.0625, 0.0078125]]> : tensor<1x2xf8E8M0FNU>
  %head = stablehlo.slice %q [0:1, 0:32] : (tensor<1x64xf8E4M3FN>) -> tensor<1x32xf8E4M3FN>
  check.expect_eq_const %head, dense<[[0.0, 16.0, 32.0, 48.0, 64.0, 80.0, 96.0, 112.0, 128.0, 144.0, 160.0, 176.0, 192.0, 208.0, 224.0, 240.0, 256.0, 256.0, 288.0, 320.0, 320.0, 320.0, 352.0, 384.0, 384.0, 384.0, 416.0, 448.0, 448.0, 448.0, 448.0, 448.0]]> : tensor<1x32xf8E4M3FN>
  %d = call @dequantize(%q, %s) : (tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU>) -> tensor<1x64xf16>
  %y = stablehlo.slice %d [0:1, 28:40] : (tensor<1x64xf16>) -> tensor<1x12xf16>
  check.expect_eq_const %y, dense<[[28.0, 28.0, 28.0, 28.0, 0.0, 0.0, 0.0, 0.0, 0.0, -3.0, 0.0, 0.0]]> : tensor<1x12xf16>
  return
}

// The same as one value: octavo's own operations give the same codes.
func.func @as_one_value() {
  %x = stablehlo.iota dim = 1 : tensor<1x64xf32>
  %q, %s = call @quantize(%x) : (tensor<1x64xf32>) -> (tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU>)
  %v = octavo.quantize %x, rule = floor : tensor<1x64xf32> -> !octavo.scaled<1x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
  %e, %t = octavo.unpack %v : (!octavo.scaled<1x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> (tensor<1x64xf8E4M3FN>, tensor<1x2xf8E8M0FNU>)
  check.expect_eq %e, %q : tensor<1x64xf8E4M3FN>
  check.expect_eq %t, %s : tensor<1x2xf8E8M0FNU>
  return
}
