module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x32xf32>, %arg1: tensor<32x3xf32>) -> (tensor<4x32xf32> {jax.result_info = "result[0]"}, tensor<32x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x32xf32>) -> tensor<4x32xf8E4M3FNUZ>
    %1 = stablehlo.convert %0 : (tensor<4x32xf8E4M3FNUZ>) -> tensor<4x32xf32>
    %cst = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x3xf32>
    %3 = stablehlo.multiply %arg1, %2 : tensor<32x3xf32>
    %4 = stablehlo.convert %3 : (tensor<32x3xf32>) -> tensor<32x3xf8E4M3FNUZ>
    %5 = stablehlo.convert %4 : (tensor<32x3xf8E4M3FNUZ>) -> tensor<32x3xf32>
    return %1, %5 : tensor<4x32xf32>, tensor<32x3xf32>
  }
}
