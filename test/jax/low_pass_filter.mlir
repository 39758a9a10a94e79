module @jit_low_pass_filter attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x16xf32>) -> (tensor<2x16xf32> {jax.result_info = "result"}) {
    %0 = call @fft(%arg0) : (tensor<2x16xf32>) -> tensor<2x9xcomplex<f32>>
    %1 = stablehlo.iota dim = 0 : tensor<9xi32>
    %c = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %3 = stablehlo.compare LT, %1, %2, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %4 = call @_where(%3, %0, %c_0) : (tensor<9xi1>, tensor<2x9xcomplex<f32>>, tensor<i32>) -> tensor<2x9xcomplex<f32>>
    %5 = call @fft_0(%4) : (tensor<2x9xcomplex<f32>>) -> tensor<2x16xf32>
    return %5 : tensor<2x16xf32>
  }
  func.func private @fft(%arg0: tensor<2x16xf32>) -> tensor<2x9xcomplex<f32>> {
    %0 = stablehlo.fft %arg0, type = RFFT, length = [16] : (tensor<2x16xf32>) -> tensor<2x9xcomplex<f32>>
    return %0 : tensor<2x9xcomplex<f32>>
  }
  func.func private @_where(%arg0: tensor<9xi1>, %arg1: tensor<2x9xcomplex<f32>>, %arg2: tensor<i32>) -> tensor<2x9xcomplex<f32>> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<complex<f32>>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<9xi1>) -> tensor<2x9xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<complex<f32>>) -> tensor<2x9xcomplex<f32>>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x9xi1>, tensor<2x9xcomplex<f32>>
    return %3 : tensor<2x9xcomplex<f32>>
  }
  func.func private @fft_0(%arg0: tensor<2x9xcomplex<f32>>) -> tensor<2x16xf32> {
    %0 = stablehlo.fft %arg0, type = IRFFT, length = [16] : (tensor<2x9xcomplex<f32>>) -> tensor<2x16xf32>
    return %0 : tensor<2x16xf32>
  }
}
