module @jit_int8_matmul attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xi32>, %arg1: tensor<8x4xi32>) -> (tensor<3x4xi32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x8xi32>) -> tensor<3x8xi8>
    %1 = stablehlo.convert %arg1 : (tensor<8x4xi32>) -> tensor<8x4xi8>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x8xi8>, tensor<8x4xi8>) -> tensor<3x4xi32>
    return %2 : tensor<3x4xi32>
  }
}
