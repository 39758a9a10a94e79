// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Integers that stand for numbers (I25), by hand: scale 0.5, zero point 3.
!q = !quant.uniform<i8:f32, 0.5:3>

// 1.25 / 0.5 + 3 = 5.5 is a tie: 6. 100 is beyond 127, -100 beyond -128.
func.func @quantize() {
  %x = stablehlo.constant dense<[1.25, -1.0, 100.0, -100.0]> : tensor<4xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!q>
  %s = stablehlo.bitcast_convert %q : (tensor<4x!q>) -> tensor<4xi8>
  check.expect_eq_const %s, dense<[6, 1, 127, -128]> : tensor<4xi8>
  %y = stablehlo.uniform_dequantize %q : (tensor<4x!q>) -> tensor<4xf32>
  check.expect_eq_const %y, dense<[1.5, -1.0, 62.0, -65.5]> : tensor<4xf32>
  // In quarters from 0 and 4 bits: 6, -4, 7, -8.
  %r = stablehlo.uniform_quantize %q : (tensor<4x!q>) -> tensor<4x!quant.uniform<i4:f32, 0.25>>
  %t = stablehlo.bitcast_convert %r : (tensor<4x!quant.uniform<i4:f32, 0.25>>) -> tensor<4xi4>
  check.expect_eq_const %t, dense<[6, -4, 7, -8]> : tensor<4xi4>
  return
}

func.func @per_axis() {
  %x = stablehlo.constant dense<[[1.0, 1.0], [2.0, 2.0]]> : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>
  %s = stablehlo.bitcast_convert %q : (tensor<2x2x!quant.uniform<i8:f32:1, {0.5, 0.25:1}>>) -> tensor<2x2xi8>
  check.expect_eq_const %s, dense<[[2, 5], [4, 9]]> : tensor<2x2xi8>
  return
}

// 2 stands for -0.5 and 6 for 1.5: negated 0.5 (4) and -1.5 (0), doubled -1 (1) and 3 (9).
func.func @elementwise() {
  %c = stablehlo.constant() <{value = dense<[2, 6]> : tensor<2xi8>}> : () -> tensor<2x!q>
  %n = stablehlo.negate %c : tensor<2x!q>
  %s = stablehlo.bitcast_convert %n : (tensor<2x!q>) -> tensor<2xi8>
  check.expect_eq_const %s, dense<[4, 0]> : tensor<2xi8>
  %a = stablehlo.add %c, %c : tensor<2x!q>
  %t = stablehlo.bitcast_convert %a : (tensor<2x!q>) -> tensor<2xi8>
  check.expect_eq_const %t, dense<[1, 9]> : tensor<2xi8>
  %p = stablehlo.compare LT, %c, %a : (tensor<2x!q>, tensor<2x!q>) -> tensor<2xi1>
  check.expect_eq_const %p, dense<[false, true]> : tensor<2xi1>
  return
}

// The code of NaN is 0, whatever it stands for: (0 + 128) * 0.5. It lies in the storage's range.
func.func @nan() {
  %x = stablehlo.constant dense<[0x7FC00000, 3.0, 0xFFC00001]> : tensor<3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5:-128>>
  %y = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 0.5:-128>>) -> tensor<3xf32>
  check.expect_eq_const %y, dense<[64.0, 3.0, 64.0]> : tensor<3xf32>
  %r = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8<2:100>:f32, 0.5:3>>
  %s = stablehlo.bitcast_convert %r : (tensor<3x!quant.uniform<i8<2:100>:f32, 0.5:3>>) -> tensor<3xi8>
  check.expect_eq_const %s, dense<[2, 9, 2]> : tensor<3xi8>
  return
}

// 1.25 and -1.0 plus 0.5, and which is larger: operands broadcast first.
func.func @broadcast() {
  %x = stablehlo.constant dense<[1.25, -1.0]> : tensor<2xf32>
  %h = stablehlo.constant dense<0.5> : tensor<f32>
  %q = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!q>
  %r = stablehlo.uniform_quantize %h : (tensor<f32>) -> tensor<!q>
  %a = chlo.broadcast_add %q, %r : (tensor<2x!q>, tensor<!q>) -> tensor<2x!q>
  %y = stablehlo.uniform_dequantize %a : (tensor<2x!q>) -> tensor<2xf32>
  check.expect_eq_const %y, dense<[2.0, -0.5]> : tensor<2xf32>
  %p = chlo.broadcast_compare %q, %r {comparison_direction = #chlo<comparison_direction GT>} : (tensor<2x!q>, tensor<!q>) -> tensor<2xi1>
  check.expect_eq_const %p, dense<[true, false]> : tensor<2xi1>
  %z = chlo.broadcast_select %p, %q, %r : (tensor<2xi1>, tensor<2x!q>, tensor<!q>) -> tensor<2x!q>
  %w = stablehlo.uniform_dequantize %z : (tensor<2x!q>) -> tensor<2xf32>
  check.expect_eq_const %w, dense<[1.5, 0.5]> : tensor<2xf32>
  return
}
