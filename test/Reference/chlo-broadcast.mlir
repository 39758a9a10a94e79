// RUN: octavo run %s --backend reference | FileCheck %s
// Operands broadcast to one shape first, by hand.

// CHECK: @broadcasts: 4 held, 0 failed
func.func @broadcasts() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %less = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xi1>
  check.expect_eq_const %less, dense<[[true, true], [false, false]]> : tensor<2x2xi1>
  %z = chlo.broadcast_complex %x, %y {broadcast_dimensions = array<i64: 0>} : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xcomplex<f32>>
  %im = stablehlo.imag %z : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
  check.expect_eq_const %im, dense<[[2.0, 2.0], [3.0, 3.0]]> : tensor<2x2xf32>
  %re = stablehlo.real %z : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
  check.expect_eq %re, %x : tensor<2x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %chosen = chlo.broadcast_select %less, %y, %zero : (tensor<2x2xi1>, tensor<2xf32>, tensor<f32>) -> tensor<2x2xf32>
  check.expect_eq_const %chosen, dense<[[2.0, 3.0], [0.0, 0.0]]> : tensor<2x2xf32>
  return
}
