module @jit_reduced_precision attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result[0]"}, tensor<8xf32> {jax.result_info = "result[1]"}, tensor<8xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<8xf32>
    %1 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %3 = chlo.next_after %arg0, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
    return %0, %1, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
