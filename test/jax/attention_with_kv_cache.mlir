module @jit_attention_with_kv_cache attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x1x2x4xf32>, %arg1: tensor<2x8x2x4xf32>, %arg2: tensor<2x8x2x4xf32>, %arg3: tensor<i32>) -> (tensor<2x1x2x4xf32> {jax.result_info = "result[0]"}, tensor<2x8x2x4xf32> {jax.result_info = "result[1]"}, tensor<2x8x2x4xf32> {jax.result_info = "result[2]"}) {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x1x2x4xf32>
    %1 = stablehlo.multiply %arg0, %0 : tensor<2x1x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<8> : tensor<i32>
    %3 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %4 = stablehlo.select %2, %3, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_update_slice %arg1, %1, %c_1, %4, %c_2, %c_3 : (tensor<2x8x2x4xf32>, tensor<2x1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x8x2x4xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x1x2x4xf32>
    %7 = stablehlo.add %arg0, %6 : tensor<2x1x2x4xf32>
    %c_5 = stablehlo.constant dense<0> : tensor<i32>
    %8 = stablehlo.compare LT, %arg3, %c_5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_6 = stablehlo.constant dense<8> : tensor<i32>
    %9 = stablehlo.add %arg3, %c_6 : tensor<i32>
    %10 = stablehlo.select %8, %9, %arg3 : tensor<i1>, tensor<i32>
    %c_7 = stablehlo.constant dense<0> : tensor<i32>
    %c_8 = stablehlo.constant dense<0> : tensor<i32>
    %c_9 = stablehlo.constant dense<0> : tensor<i32>
    %11 = stablehlo.dynamic_update_slice %arg2, %7, %c_7, %10, %c_8, %c_9 : (tensor<2x8x2x4xf32>, tensor<2x1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x8x2x4xf32>
    %12 = stablehlo.iota dim = 0 : tensor<8xi32>
    %13 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %14 = stablehlo.compare LE, %12, %13, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %15 = stablehlo.broadcast_in_dim %14, dims = [3] : (tensor<8xi1>) -> tensor<1x1x1x8xi1>
    %16 = stablehlo.dot_general %arg0, %5, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x1x2x4xf32>, tensor<2x8x2x4xf32>) -> tensor<2x2x1x8xf32>
    %cst_10 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %17 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x2x1x8xf32>
    %18 = stablehlo.divide %16, %17 : tensor<2x2x1x8xf32>
    %cst_11 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %19 = call @_where(%15, %18, %cst_11) : (tensor<1x1x1x8xi1>, tensor<2x2x1x8xf32>, tensor<f32>) -> tensor<2x2x1x8xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %20 = stablehlo.reduce(%19 init: %cst_12) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x1x8xf32>, tensor<f32>) -> tensor<2x2x1xf32>
    %cst_13 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x2x1xf32>
    %22 = stablehlo.maximum %21, %20 : tensor<2x2x1xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x1x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3] : (tensor<2x2x1x1xf32>) -> tensor<2x2x1x8xf32>
    %25 = stablehlo.subtract %19, %24 : tensor<2x2x1x8xf32>
    %26 = stablehlo.exponential %25 : tensor<2x2x1x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_14) applies stablehlo.add across dimensions = [3] : (tensor<2x2x1x8xf32>, tensor<f32>) -> tensor<2x2x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [0, 1, 2] : (tensor<2x2x1xf32>) -> tensor<2x2x1x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<2x2x1x1xf32>) -> tensor<2x2x1x8xf32>
    %30 = stablehlo.divide %26, %29 : tensor<2x2x1x8xf32>
    %31 = stablehlo.dot_general %11, %30, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x8x2x4xf32>, tensor<2x2x1x8xf32>) -> tensor<2x2x4x1xf32>
    %32 = stablehlo.transpose %31, dims = [0, 3, 1, 2] : (tensor<2x2x4x1xf32>) -> tensor<2x1x2x4xf32>
    return %32, %5, %11 : tensor<2x1x2x4xf32>, tensor<2x8x2x4xf32>, tensor<2x8x2x4xf32>
  }
  func.func private @_where(%arg0: tensor<1x1x1x8xi1>, %arg1: tensor<2x2x1x8xf32>, %arg2: tensor<f32>) -> tensor<2x2x1x8xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xi1>) -> tensor<2x2x1x8xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x1x8xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x1x8xi1>, tensor<2x2x1x8xf32>
    return %3 : tensor<2x2x1x8xf32>
  }
}
