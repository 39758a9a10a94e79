// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @parts
func.func @parts(%x: tensor<2xf32>, %z: tensor<?xcomplex<f64>>) {
  // CHECK: stablehlo.complex
  %0 = stablehlo.complex %x, %x : tensor<2xcomplex<f32>>
  // CHECK: stablehlo.real
  %1 = stablehlo.real %0 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: stablehlo.imag
  %2 = stablehlo.imag %z : (tensor<?xcomplex<f64>>) -> tensor<?xf64>
  // CHECK: stablehlo.imag
  %3 = stablehlo.imag %x : tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @transforms
func.func @transforms(%x: tensor<2x6xf32>, %z: tensor<3x4x5xcomplex<f32>>) {
  // CHECK: stablehlo.fft
  %0 = stablehlo.fft %z, type = FFT, length = [4, 5] : (tensor<3x4x5xcomplex<f32>>) -> tensor<3x4x5xcomplex<f32>>
  // CHECK: stablehlo.fft
  %1 = stablehlo.fft %z, type = IFFT, length = [3, 4, 5] : (tensor<3x4x5xcomplex<f32>>) -> tensor<3x4x5xcomplex<f32>>
  // CHECK: stablehlo.fft
  %2 = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
  // CHECK: stablehlo.fft
  %3 = stablehlo.fft %2, type = IRFFT, length = [7] : (tensor<2x4xcomplex<f32>>) -> tensor<2x7xf32>
  return
}
