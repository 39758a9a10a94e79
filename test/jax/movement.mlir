module @jit_movement attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x6xf32>) -> (tensor<4x6xf32> {jax.result_info = "result[0]"}, tensor<4x6xf32> {jax.result_info = "result[1]"}, tensor<8x6xf32> {jax.result_info = "result[2]"}, tensor<8x6xf32> {jax.result_info = "result[3]"}, tensor<6x4xf32> {jax.result_info = "result[4]"}, tensor<3x2x2x2xf32> {jax.result_info = "result[5]"}, tensor<4x6xf32> {jax.result_info = "result[6]"}, tensor<4x2x6xf32> {jax.result_info = "result[7]"}) {
    %0 = call @_roll_static(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %1 = call @_flip(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<1x4x1x6xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2, 3] : (tensor<1x4x1x6xf32>) -> tensor<2x4x1x6xf32>
    %4 = stablehlo.reshape %3 : (tensor<2x4x1x6xf32>) -> tensor<8x6xf32>
    %5 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x2x6xf32>
    %6 = stablehlo.reshape %5 : (tensor<4x2x6xf32>) -> tensor<8x6xf32>
    %7 = call @rot90(%arg0) : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %8 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<2x2x3x2xf32>
    %9 = stablehlo.transpose %8, dims = [2, 0, 3, 1] : (tensor<2x2x3x2xf32>) -> tensor<3x2x2x2xf32>
    %10 = call @triu(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %11 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
    %12 = stablehlo.broadcast_in_dim %arg0, dims = [0, 2] : (tensor<4x6xf32>) -> tensor<4x1x6xf32>
    %13 = stablehlo.concatenate %11, %12, dim = 1 : (tensor<4x1x6xf32>, tensor<4x1x6xf32>) -> tensor<4x2x6xf32>
    return %0, %1, %4, %6, %7, %9, %10, %13 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>, tensor<6x4xf32>, tensor<3x2x2x2xf32>, tensor<4x6xf32>, tensor<4x2x6xf32>
  }
  func.func private @_roll_static(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.slice %arg0 [0:4, 4:6] : (tensor<4x6xf32>) -> tensor<4x2xf32>
    %1 = stablehlo.slice %arg0 [0:4, 0:4] : (tensor<4x6xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<4x2xf32>, tensor<4x4xf32>) -> tensor<4x6xf32>
    return %2 : tensor<4x6xf32>
  }
  func.func private @_flip(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0, 1] : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @rot90(%arg0: tensor<4x6xf32>) -> tensor<6x4xf32> {
    %0 = call @_flip_0(%arg0) : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
  func.func private @_flip_0(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.reverse %arg0, dims = [1] : tensor<4x6xf32>
    return %0 : tensor<4x6xf32>
  }
  func.func private @triu(%arg0: tensor<4x6xf32>) -> tensor<4x6xf32> {
    %0 = stablehlo.iota dim = 0 : tensor<4x6xi32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x6xi32>
    %2 = stablehlo.add %0, %1 : tensor<4x6xi32>
    %3 = stablehlo.iota dim = 1 : tensor<4x6xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<4x6xi32>, tensor<4x6xi32>) -> tensor<4x6xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %6 = stablehlo.select %4, %5, %arg0 : tensor<4x6xi1>, tensor<4x6xf32>
    return %6 : tensor<4x6xf32>
  }
}
