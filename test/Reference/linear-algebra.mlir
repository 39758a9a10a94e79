// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Factors and triangular systems (I22), by hand.

// L = [[2, 0], [3, 1]]: L L^T = [[4, 6], [6, 10]]. The other triangle is not read.
func.func @cholesky() {
  %a = stablehlo.constant dense<[[4.0, 99.0], [6.0, 10.0]]> : tensor<2x2xf32>
  %l = stablehlo.cholesky %a, lower = true : tensor<2x2xf32>
  check.expect_eq_const %l, dense<[[2.0, 0.0], [3.0, 1.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[4.0, 6.0], [99.0, 10.0]]> : tensor<2x2xf32>
  %u = stablehlo.cholesky %b : tensor<2x2xf32>
  check.expect_eq_const %u, dense<[[2.0, 3.0], [0.0, 1.0]]> : tensor<2x2xf32>
  // L = [[2, 0], [i, 1]]: L L^H = [[4, -2i], [2i, 2]].
  %c = stablehlo.constant dense<[[(4.0, 0.0), (9.0, 9.0)], [(0.0, 2.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %m = stablehlo.cholesky %c, lower = true : tensor<2x2xcomplex<f32>>
  check.expect_eq_const %m, dense<[[(2.0, 0.0), (0.0, 0.0)], [(0.0, 1.0), (1.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  return
}

func.func @triangular_solve() {
  %a = stablehlo.constant dense<[[2.0, 99.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[2.0], [11.0]]> : tensor<2x1xf32>
  // 2 x = 2; 3 x + 4 y = 11.
  %x = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %x, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  // 4 y = 8; 2 x + 3 y = 8.
  %c = stablehlo.constant dense<[[8.0], [8.0]]> : tensor<2x1xf32>
  %y = "stablehlo.triangular_solve"(%a, %c) {left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %y, dense<[[1.0], [2.0]]> : tensor<2x1xf32>
  // (x, y) a = (8, 8): the same equations.
  %d = stablehlo.constant dense<[[8.0, 8.0]]> : tensor<1x2xf32>
  %z = "stablehlo.triangular_solve"(%a, %d) {left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
  check.expect_eq_const %z, dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  // With ones for the diagonal: x = 2, y = 11 - 3 * 2.
  %w = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>} : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %w, dense<[[2.0], [5.0]]> : tensor<2x1xf32>
  return
}

// a^H x = b: the conjugate of 2i is -2i.
func.func @adjoint() {
  %a = stablehlo.constant dense<[[(0.0, 2.0)]]> : tensor<1x1xcomplex<f32>>
  %b = stablehlo.constant dense<[[(2.0, 0.0)]]> : tensor<1x1xcomplex<f32>>
  %x = "stablehlo.triangular_solve"(%a, %b) {left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>} : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> tensor<1x1xcomplex<f32>>
  %i = stablehlo.imag %x : (tensor<1x1xcomplex<f32>>) -> tensor<1x1xf32>
  check.expect_eq_const %i, dense<[[1.0]]> : tensor<1x1xf32>
  return
}
