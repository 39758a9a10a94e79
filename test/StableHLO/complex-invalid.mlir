// RUN: octavo-opt %s -verify-diagnostics -split-input-file

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.complex' op (C1) operands must have one type; found 'tensor<2x6xf32>' and 'tensor<2x5xf32>'}}
  %0 = stablehlo.complex %x, %y : (tensor<2x6xf32>, tensor<2x5xf32>) -> tensor<2x6xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.complex' op (C2, C3) the result must have type 'tensor<2x6xcomplex<f32>>'; found 'tensor<2x5xcomplex<f32>>'}}
  %0 = stablehlo.complex %x, %x : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x5xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.complex' op (C2, C3) the result must have type 'tensor<2x6xcomplex<f32>>'; found 'tensor<2x6xcomplex<f64>>'}}
  %0 = stablehlo.complex %x, %x : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xcomplex<f64>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.real' op (C1, C2) the result must have type 'tensor<2x6xf32>'; found 'tensor<2x5xf32>'}}
  %0 = stablehlo.real %z : (tensor<2x6xcomplex<f32>>) -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.imag' op (C1, C2) the result must have type 'tensor<2x6xf32>'; found 'tensor<2x6xf64>'}}
  %0 = stablehlo.imag %z : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xf64>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C1) fft_length must have no more entries than the operand has axes, 2; found [1, 2, 6]}}
  %0 = stablehlo.fft %z, type = FFT, length = [1, 2, 6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C2) the operand of FFT must have complex elements; found 'f32'}}
  %0 = stablehlo.fft %x, type = FFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x6xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C2) the operand of RFFT must have f32 or f64 elements; found 'f16'}}
  %0 = stablehlo.fft %h, type = RFFT, length = [6] : (tensor<2x6xf16>) -> tensor<2x4xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C3) fft_length must have one to three entries; found []}}
  %0 = stablehlo.fft %z, type = FFT, length = [] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C4) axis 1 of the operand must have the extent 5 for fft_length [5]; found 6}}
  %0 = stablehlo.fft %x, type = RFFT, length = [5] : (tensor<2x6xf32>) -> tensor<2x3xcomplex<f32>>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C5) axis 1 of the operand must have the extent 4 for fft_length [6]; found 6}}
  %0 = stablehlo.fft %z, type = IRFFT, length = [6] : (tensor<2x6xcomplex<f32>>) -> tensor<2x6xf32>
  return
}

// -----

func.func @f(%x: tensor<2x6xf32>, %y: tensor<2x5xf32>, %z: tensor<2x6xcomplex<f32>>, %h: tensor<2x6xf16>) {
  // expected-error @+1 {{'stablehlo.fft' op (C5) the result must have type 'tensor<2x4xcomplex<f32>>'; found 'tensor<2x6xcomplex<f32>>'}}
  %0 = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x6xcomplex<f32>>
  return
}
