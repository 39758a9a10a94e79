module @jit_mapped_function attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>, %arg1: tensor<3x8xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<3x8xf32>) -> tensor<3x8x1xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [0, 2] : (tensor<3x8xf32>) -> tensor<3x1x8xf32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1, 2] : (tensor<3x8x1xf32>) -> tensor<3x8x8xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<3x1x8xf32>) -> tensor<3x8x8xf32>
    %4 = stablehlo.multiply %2, %3 : tensor<3x8x8xf32>
    %5 = stablehlo.dot_general %4, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x8x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    return %5 : tensor<3x8xf32>
  }
}
