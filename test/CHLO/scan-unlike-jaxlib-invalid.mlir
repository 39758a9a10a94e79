// RUN: octavo-opt %s -split-input-file -verify-diagnostics

// What jaxlib 0.10.2 crashes on.

func.func @thin_slice(%x: tensor<2x8xf32>, %zero: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op slices of outputs must be tensors of at least 1 axes; found 'tensor<f32>'}}
  %0:2 = chlo.scan(%x) inits (%zero) dimension=1 {
  ^bb0(%input: tensor<2xf32>, %carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<2x8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return
}
