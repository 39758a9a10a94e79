// RUN: octavo run %s --backend reference
// Sums and other folds (I10).

func.func @add_over_each_axis() {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %a, dense<[5.0, 7.0, 9.0]> : tensor<3xf32>
  %b = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %b, dense<[6.0, 15.0]> : tensor<2xf32>
  %c = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  check.expect_eq_const %c, dense<21.0> : tensor<f32>
  return
}

// The order shows: (((0 + 2^24) + 1) + 1) is 2^24 in f32; (1 + 1) + 2^24 is 2^24 + 2.
func.func @order_is_row_major() {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %x = stablehlo.constant dense<[[16777216.0, 1.0, 1.0], [1.0, 1.0, 16777216.0]]> : tensor<2x3xf32>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %a, dense<[16777216.0, 16777218.0]> : tensor<2xf32>
  return
}

// 16 + 1 + 1 in E4M3FN would be 16 at each step; accumulated in f32 it is 18.
func.func @narrow_accumulates_in_f32() {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %x = stablehlo.constant dense<[16.0, 1.0, 1.0]> : tensor<3xf8E4M3FN>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
  check.expect_eq_const %a, dense<18.0> : tensor<f8E4M3FN>
  return
}

// A body of more than one operation is evaluated in its own type: 16 + 1 rounds to 16, twice.
func.func @region_rounds_at_each_step() {
  %zero = stablehlo.constant dense<0.0> : tensor<f8E4M3FN>
  %x = stablehlo.constant dense<[16.0, 1.0, 1.0]> : tensor<3xf8E4M3FN>
  %a = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xf8E4M3FN>, tensor<f8E4M3FN>) -> tensor<f8E4M3FN>
    reducer(%p: tensor<f8E4M3FN>, %q: tensor<f8E4M3FN>) {
      %m = stablehlo.abs %q : tensor<f8E4M3FN>
      %s = stablehlo.add %p, %m : tensor<f8E4M3FN>
      stablehlo.return %s : tensor<f8E4M3FN>
    }
  check.expect_eq_const %a, dense<16.0> : tensor<f8E4M3FN>
  return
}

func.func @maximum_propagates_nan() {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %x = stablehlo.constant dense<[[1.0, 0x7FC00000, 3.0], [-1.0, -5.0, -2.0]]> : tensor<2x3xf32>
  %a = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %a, dense<[0x7FC00000, -1.0]> : tensor<2xf32>
  return
}

func.func @integers_and_booleans() {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %x = stablehlo.constant dense<[100, 100, 100]> : tensor<3xi8>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xi8>, tensor<i8>) -> tensor<i8>
  check.expect_eq_const %a, dense<44> : tensor<i8>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %y = stablehlo.constant dense<[[true, true], [true, false]]> : tensor<2x2xi1>
  %b = stablehlo.reduce(%y init: %true) applies stablehlo.and across dimensions = [1] : (tensor<2x2xi1>, tensor<i1>) -> tensor<2xi1>
  check.expect_eq_const %b, dense<[true, false]> : tensor<2xi1>
  return
}

// Index of the largest element, as JAX's argmax reduces it: two operands, two results.
func.func @argmax() {
  %x = stablehlo.constant dense<[[1.0, 7.0, 3.0], [9.0, 2.0, 9.0]]> : tensor<2x3xf32>
  %i = stablehlo.iota dim = 1 : tensor<2x3xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %v, %k = stablehlo.reduce(%x init: %low), (%i init: %none) across dimensions = [1] : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<2xf32>, tensor<2xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%m: tensor<i32>, %n: tensor<i32>) {
      %gt = stablehlo.compare GT, %b, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %s = stablehlo.select %gt, %b, %a : tensor<i1>, tensor<f32>
      %t = stablehlo.select %gt, %n, %m : tensor<i1>, tensor<i32>
      stablehlo.return %s, %t : tensor<f32>, tensor<i32>
    }
  check.expect_eq_const %v, dense<[7.0, 9.0]> : tensor<2xf32>
  check.expect_eq_const %k, dense<[1, 0]> : tensor<2xi32>
  return
}

func.func @zero_sized() {
  %init = stablehlo.constant dense<2.5> : tensor<f32>
  %x = stablehlo.constant dense<> : tensor<2x0xf32>
  %a = stablehlo.reduce(%x init: %init) applies stablehlo.add across dimensions = [1] : (tensor<2x0xf32>, tensor<f32>) -> tensor<2xf32>
  check.expect_eq_const %a, dense<2.5> : tensor<2xf32>
  return
}
