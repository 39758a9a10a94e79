module @jit_fft_convolution attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x16xf32>, %arg1: tensor<2x16xf32>) -> (tensor<2x16xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x16xf32>) -> tensor<2x16xcomplex<f32>>
    %1 = call @fft(%arg1) : (tensor<2x16xf32>) -> tensor<2x16xcomplex<f32>>
    %2 = stablehlo.multiply %0, %1 : tensor<2x16xcomplex<f32>>
    %3 = call @fft_0(%2) : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
    %4 = stablehlo.real %3 : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xf32>
    return %4 : tensor<2x16xf32>
  }
  func.func private @fft(%arg0: tensor<2x16xf32>) -> tensor<2x16xcomplex<f32>> {
    %0 = stablehlo.convert %arg0 : (tensor<2x16xf32>) -> tensor<2x16xcomplex<f32>>
    %1 = stablehlo.fft %0, type = FFT, length = [16] : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
    return %1 : tensor<2x16xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = IFFT, length = [16] : (tensor<2x16xcomplex<f32>>) -> tensor<2x16xcomplex<f32>>
    return %0 : tensor<2x16xcomplex<f32>>
  }
}
