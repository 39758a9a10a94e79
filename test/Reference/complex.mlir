// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Parts of complex numbers, and transforms (I22) whose values are exact, by hand.

func.func @parts() {
  %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[0.5, 0.0]> : tensor<2xf32>
  %z = stablehlo.complex %x, %y : tensor<2xcomplex<f32>>
  check.expect_eq_const %z, dense<[(1.0, 0.5), (-2.0, 0.0)]> : tensor<2xcomplex<f32>>
  %r = stablehlo.real %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq %r, %x : tensor<2xf32>
  %i = stablehlo.imag %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  check.expect_eq %i, %y : tensor<2xf32>
  %n = stablehlo.imag %x : tensor<2xf32>
  check.expect_eq_const %n, dense<0.0> : tensor<2xf32>
  return
}

func.func @transforms() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %h = stablehlo.fft %x, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
  check.expect_eq_const %h, dense<[(10.0, 0.0), (-2.0, 2.0), (-2.0, 0.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.fft %h, type = IRFFT, length = [4] : (tensor<3xcomplex<f32>>) -> tensor<4xf32>
  check.expect_eq %b, %x : tensor<4xf32>
  %z = stablehlo.constant dense<[(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (0.0, 0.0)]> : tensor<4xcomplex<f64>>
  // 1 + i (-i)^k.
  %f = stablehlo.fft %z, type = FFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_eq_const %f, dense<[(1.0, 1.0), (2.0, 0.0), (1.0, -1.0), (0.0, 0.0)]> : tensor<4xcomplex<f64>>
  %i = stablehlo.fft %f, type = IFFT, length = [4] : (tensor<4xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  check.expect_eq %i, %z : tensor<4xcomplex<f64>>
  return
}
