// RUN: octavo run %s --backend reference
// dot_general (I12).

// Seed 001: 0*0 + 1*1 + ... + 7*7 is 140 in f32; E4M3 has 136 and 144 around it, and 144 is even.
func.func @iota_at_iota_in_e4m3() {
  %x = stablehlo.iota dim = 0 : tensor<8xf8E4M3>
  %y = "stablehlo.dot_general"(%x, %x) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<8xf8E4M3>, tensor<8xf8E4M3>) -> tensor<f8E4M3>
  check.expect_eq_const %y, dense<144.0> : tensor<f8E4M3>
  %z = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<8xf8E4M3>, tensor<8xf8E4M3>) -> tensor<f32>
  check.expect_eq_const %z, dense<140.0> : tensor<f32>
  return
}

func.func @matrices() {
  %a = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %b = stablehlo.constant dense<[[1.0, -1.0], [2.0, 0.0], [0.5, 1.0]]> : tensor<3x2xf32>
  %ab = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  check.expect_eq_const %ab, dense<[[6.5, 2.0], [17.0, 2.0]]> : tensor<2x2xf32>
  // Contracted first on the left, last on the right.
  %ba = stablehlo.dot_general %a, %b, contracting_dims = [0] x [1] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<3x3xf32>
  check.expect_eq_const %ba, dense<[[-3.0, 2.0, 4.5], [-3.0, 4.0, 6.0], [-3.0, 6.0, 7.5]]> : tensor<3x3xf32>
  return
}

func.func @batches() {
  %a = stablehlo.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = stablehlo.constant dense<[[[1.0, 0.0], [2.0, 1.0]], [[1.0, 1.0], [0.0, 2.0]]]> : tensor<2x2x2xf32>
  %c = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x1x2xf32>, tensor<2x2x2xf32>) -> tensor<2x1x2xf32>
  check.expect_eq_const %c, dense<[[[5.0, 2.0]], [[3.0, 11.0]]]> : tensor<2x1x2xf32>
  return
}

// The order of K: 2^24 + 1 + 1 is 2^24 in f32, one after the other.
func.func @order_of_k() {
  %a = stablehlo.constant dense<[[16777216.0, 1.0, 1.0], [1.0, 1.0, 16777216.0]]> : tensor<2x3xf32>
  %b = stablehlo.constant dense<1.0> : tensor<3xf32>
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  check.expect_eq_const %c, dense<[16777216.0, 16777218.0]> : tensor<2xf32>
  return
}

// Products are rounded before they are added: (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 rounds to
// 1 + 2^-11, so the difference is 0; with a fused product it would be 2^-24.
func.func @products_are_rounded() {
  %a = stablehlo.constant dense<[-1.00048828125, 1.000244140625]> : tensor<2xf32>
  %b = stablehlo.constant dense<[1.0, 1.000244140625]> : tensor<2xf32>
  %c = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %c, dense<0.0> : tensor<f32>
  return
}

// Two types; the sum 16 + 1 + 1 is 18, where E4M3FN sums would stay at 16.
func.func @mixed_narrow() {
  %a = stablehlo.constant dense<[16.0, 1.0, 1.0]> : tensor<3xf8E4M3FN>
  %b = stablehlo.constant dense<1.0> : tensor<3xf8E5M2>
  %c = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<3xf8E4M3FN>, tensor<3xf8E5M2>) -> tensor<f8E4M3FN>
  check.expect_eq_const %c, dense<18.0> : tensor<f8E4M3FN>
  return
}

func.func @f64_and_integers() {
  %a = stablehlo.constant dense<[16777216.0, 1.0, 1.0]> : tensor<3xf64>
  %b = stablehlo.constant dense<1.0> : tensor<3xf64>
  %c = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0] : (tensor<3xf64>, tensor<3xf64>) -> tensor<f64>
  check.expect_eq_const %c, dense<16777218.0> : tensor<f64>
  %i = stablehlo.constant dense<[-128, 100]> : tensor<2xi8>
  %j = stablehlo.dot_general %i, %i, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i32>
  check.expect_eq_const %j, dense<26384> : tensor<i32>
  %k = stablehlo.dot_general %i, %i, contracting_dims = [0] x [0] : (tensor<2xi8>, tensor<2xi8>) -> tensor<i8>
  check.expect_eq_const %k, dense<16> : tensor<i8>
  return
}

// An algorithm is honoured: operands first rounded to bf16 (1 + 2^-9 to 1), or TF32 (1 + 2^-11 to
// 1, a tie).
func.func @algorithm() {
  %a = stablehlo.constant dense<[1.001953125, 1.0]> : tensor<2xf32>
  %c = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %c, dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<[1.00048828125, 1.0]> : tensor<2xf32>
  %d = stablehlo.dot_general %b, %b, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %d, dense<2.0> : tensor<f32>
  return
}

func.func @zero_sized() {
  %a = stablehlo.constant dense<> : tensor<2x0xf32>
  %b = stablehlo.constant dense<> : tensor<0x3xf32>
  %c = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  check.expect_eq_const %c, dense<0.0> : tensor<2x3xf32>
  return
}
