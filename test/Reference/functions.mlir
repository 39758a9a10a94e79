// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Functions of f32, within 1 value of mpmath (200 bits, one rounding). Rule I1 of docs/semantics.md.

func.func @cbrt() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.cbrt %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F214518, 0xBF689768, 0x3F9285FF, 0xBFB89BA2, 0x346754A6, 0x402DB905]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @ceil() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBFE00000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.ceil %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F800000, 0xBF800000, 0x40000000, 0xC0400000, 0x3F800000, 0x41A00000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @floor() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.floor %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0.0, 0xBF800000, 0x3F800000, 0xC0400000, 0.0, 0x41A00000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @cosine() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.cosine %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F780AA5, 0x3F3B4FF6, 0x3D90DEAA, 0xBF7D7026, 0x3F800000, 0x3ED0F022]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @sine() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.sine %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E7D5777, 0xBF2E7FE1, 0x3F7F5BD5, 0xBE1081C3, 0x1E3CE508, 0x3F69B6C8]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @tan() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.tan %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E82BC2D, 0xBF6E7D1B, 0x41619F6B, 0x3E11F7B9, 0x1E3CE508, 0x400F2DA5]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @exponential_minus_one() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.exponential_minus_one %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E916BC8, 0xBF0712FC, 0x405ED3FE, 0xBF734128, 0x1E3CE508, 0x4DE75844]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @log_plus_one() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3F000000, 0xBF7D70A4, 0x1E3CE508, 0x3F7FBE77]> : tensor<6xf32>
  %y = stablehlo.log_plus_one %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E647FBE, 0xBFB17218, 0x3ECF991F, 0xC0935D90, 0x1E3CE508, 0x3F315151]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @logistic() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.logistic %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F0FEACD, 0x3EA442B1, 0x3F514C90, 0x3D4241A2, 0x3F000000, 0x3F800000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @sign() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = stablehlo.sign %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F800000, 0xBF800000, 0x3F800000, 0xBF800000, 0x3F800000, 0x3F800000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @round_nearest_afz() {
  %x = stablehlo.constant dense<[0x3F000000, 0xBF000000, 0x3FC00000, 0xC0200000, 0x3EFFFFFF, 0x4B000001]> : tensor<6xf32>
  %y = stablehlo.round_nearest_afz %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F800000, 0xBF800000, 0x40000000, 0xC0400000, 0.0, 0x4B000001]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @round_nearest_even() {
  %x = stablehlo.constant dense<[0x3F000000, 0x3FC00000, 0x40200000, 0xC0600000, 0x3EFFFFFF, 0x4B000001]> : tensor<6xf32>
  %y = stablehlo.round_nearest_even %x : tensor<6xf32>
  %expected = stablehlo.constant dense<[0.0, 0x40000000, 0x40000000, 0xC0800000, 0.0, 0x4B000001]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @acos() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3F000000, 0xBF7D70A4, 0x1E3CE508, 0x3F7FBE77]> : tensor<6xf32>
  %y = chlo.acos %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3FA8B807, 0x401ACE93, 0x3F860A92, 0x404000DF, 0x3FC90FDB, 0x3D37315A]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @asin() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3F000000, 0xBF7D70A4, 0x1E3CE508, 0x3F7FBE77]> : tensor<6xf32>
  %y = chlo.asin %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E815F4E, 0xBF591A99, 0x3F060A92, 0xBFB6F1E4, 0x1E3CE508, 0x3FC35650]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @atan() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.atan %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E7ADBB0, 0xBF24BC7D, 0x3F7B985F, 0xBF9FE0BB, 0x1E3CE508, 0x3FC2AAD1]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @acosh() {
  %x = stablehlo.constant dense<[0x3F800000, 0x3FA00000, 0x3FC00000, 0x40400000, 0x501502F9, 0x41A00000]> : tensor<6xf32>
  %y = chlo.acosh %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0.0, 0x3F317218, 0x3F766165, 0x3FE1A1B3, 0x41BDC082, 0x406C0C5A]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @asinh() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.asinh %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E7D67D9, 0xBF317218, 0x3F98EE00, 0xBFE8C2DB, 0x1E3CE508, 0x406C20D5]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @atanh() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3F000000, 0xBF7D70A4, 0x1E3CE508, 0x3F7FBE77]> : tensor<6xf32>
  %y = chlo.atanh %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E82C578, 0xBF791395, 0x3F0C9F54, 0xC02962C3, 0x1E3CE508, 0x4073369A]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @cosh() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.cosh %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F840558, 0x3FA5B82F, 0x40168DE1, 0x41211525, 0x3F800000, 0x4D675844]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @sinh() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.sinh %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E815667, 0xBF528359, 0x4008461D, 0xC1204937, 0x1E3CE508, 0x4D675844]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @tan_chlo() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.tan %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E82BC2D, 0xBF6E7D1B, 0x41619F6B, 0x3E11F7B9, 0x1E3CE508, 0x400F2DA5]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @digamma() {
  %x = stablehlo.constant dense<[0x3E800000, 0x3F400000, 0x3FC00000, 0x40400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.digamma %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0xC087474D, 0xBF8AFD7D, 0x3D157683, 0x3F6C3B98, 0xE0AD78EC, 0x403E1D11]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @lgamma() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0600000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.lgamma %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3FA4DDEC, 0x3FC9B0B0, 0xBDF75CAE, 0xBFA78D88, 0x423834F1, 0x421D5C0B]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @erf_inv() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3F000000, 0xBF7D70A4, 0x1E3CE508, 0x3F7FBE77]> : tensor<6xf32>
  %y = chlo.erf_inv %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E66B834, 0xBF503C48, 0x3EF430FE, 0xBFE92332, 0x1E27674E, 0x4014E993]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @erf() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.erf %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E8D7AA7, 0xBF360E4C, 0x3F7752AB, 0xBF7FFE8D, 0x1E552511, 0x3F800000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @erfc() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.erfc %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3F3942AC, 0x3FDB0726, 0x3D0AD554, 0x3FFFFF47, 0x3F800000, 0x00000000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @bessel_i1e() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.bessel_i1e %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3DC8EF46, 0xBE4271F2, 0x3E604BDC, 0xBE498CF1, 0x1DBCE508, 0x3DB33676]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @square() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1F0DABC6, 0x41A00000]> : tensor<6xf32>
  %y = chlo.square %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3D800000, 0x3F100000, 0x40100000, 0x41100000, 0x0009CCD5, 0x43C80000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @conj() {
  %x = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  %y = chlo.conj %x : tensor<6xf32> -> tensor<6xf32>
  %expected = stablehlo.constant dense<[0x3E800000, 0xBF400000, 0x3FC00000, 0xC0400000, 0x1E3CE508, 0x41A00000]> : tensor<6xf32>
  check.expect_close %y, %expected, max_ulp_difference = 1 : tensor<6xf32>, tensor<6xf32>
  return
}

func.func @atan2() {
  %y = stablehlo.constant dense<[0x3F000000, 0xBF000000, 0x40400000, 0xC0400000]> : tensor<4xf32>
  %x = stablehlo.constant dense<[0x40000000, 0xC0000000, 0xBE800000, 0x40800000]> : tensor<4xf32>
  %z = stablehlo.atan2 %y, %x : tensor<4xf32>
  %expected = stablehlo.constant dense<[0x3E7ADBB0, 0xC0396220, 0x3FD3B43A, 0xBF24BC7D]> : tensor<4xf32>
  check.expect_close %z, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  return
}

func.func @predicates() {
  %x = stablehlo.constant dense<[1.0, 0x7F800000, 0xFF800000, 0x7FC00000, -0.0, 0x00000001]> : tensor<6xf32>
  %is_finite = stablehlo.is_finite %x : (tensor<6xf32>) -> tensor<6xi1>
  check.expect_eq_const %is_finite, dense<[true, false, false, false, true, true]> : tensor<6xi1>
  %is_inf = chlo.is_inf %x : tensor<6xf32> -> tensor<6xi1>
  check.expect_eq_const %is_inf, dense<[false, true, true, false, false, false]> : tensor<6xi1>
  %is_pos_inf = chlo.is_pos_inf %x : tensor<6xf32> -> tensor<6xi1>
  check.expect_eq_const %is_pos_inf, dense<[false, true, false, false, false, false]> : tensor<6xi1>
  %is_neg_inf = chlo.is_neg_inf %x : tensor<6xf32> -> tensor<6xi1>
  check.expect_eq_const %is_neg_inf, dense<[false, false, true, false, false, false]> : tensor<6xi1>
  return
}

func.func @next_after() {
  %x = stablehlo.constant dense<[1.0, 1.0, 0.0, 0x7F7FFFFF]> : tensor<4xf32>
  %y = stablehlo.constant dense<[2.0, 0.0, -1.0, 0x7F800000]> : tensor<4xf32>
  %z = chlo.next_after %x, %y : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  check.expect_eq_const %z, dense<[0x3F800001, 0x3F7FFFFF, 0x80000001, 0x7F800000]> : tensor<4xf32>
  return
}

// Hand-derived: bits of 8.
func.func @integers() {
  %x = stablehlo.constant dense<[1, -128, 127, -1]> : tensor<4xi8>
  %y = stablehlo.constant dense<[3, 1, 7, 2]> : tensor<4xi8>
  %count_leading_zeros = stablehlo.count_leading_zeros %x : tensor<4xi8>
  check.expect_eq_const %count_leading_zeros, dense<[7, 0, 1, 0]> : tensor<4xi8>
  %popcnt = stablehlo.popcnt %x : tensor<4xi8>
  check.expect_eq_const %popcnt, dense<[1, 1, 7, 8]> : tensor<4xi8>
  %shift_left = stablehlo.shift_left %x, %y : tensor<4xi8>
  check.expect_eq_const %shift_left, dense<[8, 0, -128, -4]> : tensor<4xi8>
  %shift_right_arithmetic = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi8>
  check.expect_eq_const %shift_right_arithmetic, dense<[0, -64, 0, -1]> : tensor<4xi8>
  %shift_right_logical = stablehlo.shift_right_logical %x, %y : tensor<4xi8>
  check.expect_eq_const %shift_right_logical, dense<[0, 64, 0, 63]> : tensor<4xi8>
  %or = stablehlo.or %x, %y : tensor<4xi8>
  check.expect_eq_const %or, dense<[3, -127, 127, -1]> : tensor<4xi8>
  %xor = stablehlo.xor %x, %y : tensor<4xi8>
  check.expect_eq_const %xor, dense<[2, -127, 120, -3]> : tensor<4xi8>
  %mulhi = chlo.mulhi %x, %y : tensor<4xi8>, tensor<4xi8> -> tensor<4xi8>
  check.expect_eq_const %mulhi, dense<[0, -1, 3, -1]> : tensor<4xi8>
  return
}

func.func @map() {
  %x = stablehlo.constant dense<[1, -128, 127, -1]> : tensor<4xi8>
  %y = stablehlo.constant dense<[3, 1, 7, 2]> : tensor<4xi8>
  %z = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %0 = stablehlo.subtract %b, %a : tensor<i8>
    stablehlo.return %0 : tensor<i8>
  }) : (tensor<4xi8>, tensor<4xi8>) -> tensor<4xi8>
  check.expect_eq_const %z, dense<[2, -127, -120, 3]> : tensor<4xi8>
  return
}

// The scalar goes with every element.
func.func @broadcast_add() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_add %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[3.0, 4.0, 5.0, 6.0]> : tensor<4xf32>
  return
}

func.func @broadcast_subtract() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_subtract %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[-1.0, 0.0, 1.0, 2.0]> : tensor<4xf32>
  return
}

func.func @broadcast_multiply() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_multiply %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[2.0, 4.0, 6.0, 8.0]> : tensor<4xf32>
  return
}

func.func @broadcast_divide() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_divide %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[0.5, 1.0, 1.5, 2.0]> : tensor<4xf32>
  return
}

func.func @broadcast_remainder() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<3.0> : tensor<f32>
  %z = chlo.broadcast_remainder %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[1.0, 2.0, 0.0, 1.0]> : tensor<4xf32>
  return
}

func.func @broadcast_maximum() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_maximum %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[2.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return
}

func.func @broadcast_minimum() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_minimum %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[1.0, 2.0, 2.0, 2.0]> : tensor<4xf32>
  return
}

func.func @broadcast_power() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<2.0> : tensor<f32>
  %z = chlo.broadcast_power %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[1.0, 4.0, 9.0, 16.0]> : tensor<4xf32>
  return
}

func.func @broadcast_next_after() {
  %x = stablehlo.constant dense<[1.0, 2.0, 4.0, 8.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<0.0> : tensor<f32>
  %z = chlo.broadcast_next_after %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[0x3F7FFFFF, 0x3FFFFFFF, 0x407FFFFF, 0x40FFFFFF]> : tensor<4xf32>
  return
}

func.func @broadcast_atan2() {
  %x = stablehlo.constant dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<1.0> : tensor<f32>
  %z = chlo.broadcast_atan2 %x, %y : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  check.expect_eq_const %z, dense<[0.0, 0.0, 0.0, 0.0]> : tensor<4xf32>
  return
}

func.func @broadcast_and() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<2> : tensor<i32>
  %z = chlo.broadcast_and %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %z, dense<[0, 2, 2, 0]> : tensor<4xi32>
  return
}

func.func @broadcast_or() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<2> : tensor<i32>
  %z = chlo.broadcast_or %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %z, dense<[3, 2, 3, 6]> : tensor<4xi32>
  return
}

func.func @broadcast_xor() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<2> : tensor<i32>
  %z = chlo.broadcast_xor %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %z, dense<[3, 0, 1, 6]> : tensor<4xi32>
  return
}

func.func @broadcast_shift_left() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<2> : tensor<i32>
  %z = chlo.broadcast_shift_left %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %z, dense<[4, 8, 12, 16]> : tensor<4xi32>
  return
}

func.func @broadcast_shift_right_arithmetic() {
  %x = stablehlo.constant dense<[-8, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<1> : tensor<i32>
  %z = chlo.broadcast_shift_right_arithmetic %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %z, dense<[-4, 1, 1, 2]> : tensor<4xi32>
  return
}

func.func @broadcast_shift_right_logical() {
  %x = stablehlo.constant dense<[-8, 2, 3, 4]> : tensor<4xi32>
  %y = stablehlo.constant dense<1> : tensor<i32>
  %z = chlo.broadcast_shift_right_logical %x, %y : (tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
  check.expect_eq_const %z, dense<[2147483644, 1, 1, 2]> : tensor<4xi32>
  return
}

func.func @broadcast_zeta() {
  %n = stablehlo.constant dense<2.0> : tensor<f32>
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 0.5]> : tensor<4xf32>
  %z = chlo.broadcast_zeta %n, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %expected = stablehlo.constant dense<[0x3FD28D33, 0x3F251A66, 0x3ECA34CC, 0x409DE9E6]> : tensor<4xf32>
  check.expect_close %z, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  return
}

func.func @broadcast_polygamma() {
  %n = stablehlo.constant dense<1.0> : tensor<f32>
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 0.5]> : tensor<4xf32>
  %z = chlo.broadcast_polygamma %n, %x : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  %expected = stablehlo.constant dense<[0x3FD28D33, 0x3F251A66, 0x3ECA34CC, 0x409DE9E6]> : tensor<4xf32>
  check.expect_close %z, %expected, max_ulp_difference = 1 : tensor<4xf32>, tensor<4xf32>
  return
}

// The distance between an infinity or a NaN and any other value is 2^64 - 1; equal ones are 0 apart.
func.func @distances_of_what_is_not_finite() {
  %a = stablehlo.constant dense<[0x7F800000, 0x7F800000, 0x7FC00000, 0x7F7FFFFF]> : tensor<4xf32>
  %b = stablehlo.constant dense<[0xFF800000, 0x7F7FFFFF, 1.0, 0x7F800000]> : tensor<4xf32>
  check.expect_close %a, %b, max_ulp_difference = 18446744073709551615, min_ulp_difference = 18446744073709551615 : tensor<4xf32>, tensor<4xf32>
  %c = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0x7FC00000]> : tensor<3xf32>
  %d = stablehlo.constant dense<[0x7F800000, 0xFF800000, 0xFFC00001]> : tensor<3xf32>
  check.expect_close %c, %d, max_ulp_difference = 0 : tensor<3xf32>, tensor<3xf32>
  return
}

// As in Annex G of C99: e^-inf times whatever direction is a zero.
func.func @exponential_of_minus_infinity() {
  %x = stablehlo.constant dense<[(0xFF800000, 0x7F800000), (0xFF800000, 0xFF800000)]> : tensor<2xcomplex<f32>>
  %y = stablehlo.exponential %x : tensor<2xcomplex<f32>>
  %re = stablehlo.real %y : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %im = stablehlo.imag %y : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf32>
  check.expect_close %re, %zero, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %im, %zero, max_ulp_difference = 0 : tensor<2xf32>, tensor<2xf32>
  return
}

// A NaN keeps its sign and payload, whether or not there is something to round.
func.func @reduce_precision_of_nan() {
  %x = stablehlo.constant dense<[0xFFC00000, 0x7FC12345, 1.0]> : tensor<3xf32>
  %y = stablehlo.reduce_precision %x, format = e8m23 : tensor<3xf32>
  %z = stablehlo.reduce_precision %x, format = e5m2 : tensor<3xf32>
  %b = stablehlo.bitcast_convert %y : (tensor<3xf32>) -> tensor<3xui32>
  %c = stablehlo.bitcast_convert %z : (tensor<3xf32>) -> tensor<3xui32>
  check.expect_eq_const %b, dense<[0xFFC00000, 0x7FC12345, 0x3F800000]> : tensor<3xui32>
  check.expect_eq_const %c, dense<[0xFFC00000, 0x7FC12345, 0x3F800000]> : tensor<3xui32>
  return
}
