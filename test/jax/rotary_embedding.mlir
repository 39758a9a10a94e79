module @jit_rotary_embedding attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x2x8xf32>) -> (tensor<2x6x2x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<6xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %2 = stablehlo.iota dim = 0 : tensor<4xf32>
    %3 = stablehlo.negate %2 : tensor<4xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.divide %3, %4 : tensor<4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+04> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %7 = stablehlo.power %6, %5 : tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %9 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x4xf32>
    %10 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<6x4xf32>
    %11 = stablehlo.multiply %9, %10 : tensor<6x4xf32>
    %12 = stablehlo.slice %arg0 [0:2, 0:6, 0:2, 0:4] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x4xf32>
    %13 = stablehlo.slice %arg0 [0:2, 0:6, 0:2, 4:8] : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x4xf32>
    %14 = stablehlo.cosine %11 : tensor<6x4xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 2] : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
    %16 = stablehlo.sine %11 : tensor<6x4xf32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [0, 2] : (tensor<6x4xf32>) -> tensor<6x1x4xf32>
    %18 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<6x1x4xf32>) -> tensor<1x6x1x4xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3] : (tensor<1x6x1x4xf32>) -> tensor<2x6x2x4xf32>
    %20 = stablehlo.multiply %12, %19 : tensor<2x6x2x4xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [1, 2, 3] : (tensor<6x1x4xf32>) -> tensor<1x6x1x4xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0, 1, 2, 3] : (tensor<1x6x1x4xf32>) -> tensor<2x6x2x4xf32>
    %23 = stablehlo.multiply %13, %22 : tensor<2x6x2x4xf32>
    %24 = stablehlo.subtract %20, %23 : tensor<2x6x2x4xf32>
    %25 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<6x1x4xf32>) -> tensor<1x6x1x4xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<1x6x1x4xf32>) -> tensor<2x6x2x4xf32>
    %27 = stablehlo.multiply %13, %26 : tensor<2x6x2x4xf32>
    %28 = stablehlo.broadcast_in_dim %17, dims = [1, 2, 3] : (tensor<6x1x4xf32>) -> tensor<1x6x1x4xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1, 2, 3] : (tensor<1x6x1x4xf32>) -> tensor<2x6x2x4xf32>
    %30 = stablehlo.multiply %12, %29 : tensor<2x6x2x4xf32>
    %31 = stablehlo.add %27, %30 : tensor<2x6x2x4xf32>
    %32 = stablehlo.concatenate %24, %31, dim = 3 : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x6x2x8xf32>
    return %32 : tensor<2x6x2x8xf32>
  }
}
