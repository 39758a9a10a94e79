module @jit_mxfp8_blocks attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x64xf32>, %arg1: tensor<64x3xf32>) -> (tensor<4x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x64xf32>) -> tensor<64x4xf32>
    %1 = stablehlo.reshape %0 : (tensor<64x4xf32>) -> tensor<2x32x4xf32>
    %2 = stablehlo.abs %1 : tensor<2x32x4xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %3 = stablehlo.reduce(%2 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32x4xf32>, tensor<f32>) -> tensor<2x4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 2] : (tensor<2x4xf32>) -> tensor<2x1x4xf32>
    %5 = stablehlo.log %4 : tensor<2x1x4xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %6 = stablehlo.log %cst_0 : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<f32>) -> tensor<2x1x4xf32>
    %8 = stablehlo.divide %5, %7 : tensor<2x1x4xf32>
    %9 = stablehlo.floor %8 : tensor<2x1x4xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x1x4xf32>
    %11 = stablehlo.subtract %9, %10 : tensor<2x1x4xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x1x4xf32>
    %13 = stablehlo.power %12, %11 : tensor<2x1x4xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x1x4xf32>) -> tensor<2x32x4xf32>
    %15 = stablehlo.divide %1, %14 : tensor<2x32x4xf32>
    %16 = stablehlo.convert %15 : (tensor<2x32x4xf32>) -> tensor<2x32x4xf8E4M3FN>
    %17 = stablehlo.convert %16 : (tensor<2x32x4xf8E4M3FN>) -> tensor<2x32x4xf32>
    %18 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x1x4xf32>) -> tensor<2x32x4xf32>
    %19 = stablehlo.multiply %17, %18 : tensor<2x32x4xf32>
    %20 = stablehlo.reshape %19 : (tensor<2x32x4xf32>) -> tensor<64x4xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0] : (tensor<64x4xf32>) -> tensor<4x64xf32>
    %22 = stablehlo.reshape %arg1 : (tensor<64x3xf32>) -> tensor<2x32x3xf32>
    %23 = stablehlo.abs %22 : tensor<2x32x3xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_3) applies stablehlo.maximum across dimensions = [1] : (tensor<2x32x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0, 2] : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
    %26 = stablehlo.log %25 : tensor<2x1x3xf32>
    %cst_4 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %27 = stablehlo.log %cst_4 : tensor<f32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [] : (tensor<f32>) -> tensor<2x1x3xf32>
    %29 = stablehlo.divide %26, %28 : tensor<2x1x3xf32>
    %30 = stablehlo.floor %29 : tensor<2x1x3xf32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x1x3xf32>
    %32 = stablehlo.subtract %30, %31 : tensor<2x1x3xf32>
    %cst_6 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x1x3xf32>
    %34 = stablehlo.power %33, %32 : tensor<2x1x3xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x32x3xf32>
    %36 = stablehlo.divide %22, %35 : tensor<2x32x3xf32>
    %37 = stablehlo.convert %36 : (tensor<2x32x3xf32>) -> tensor<2x32x3xf8E4M3FN>
    %38 = stablehlo.convert %37 : (tensor<2x32x3xf8E4M3FN>) -> tensor<2x32x3xf32>
    %39 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<2x1x3xf32>) -> tensor<2x32x3xf32>
    %40 = stablehlo.multiply %38, %39 : tensor<2x32x3xf32>
    %41 = stablehlo.reshape %40 : (tensor<2x32x3xf32>) -> tensor<64x3xf32>
    %42 = stablehlo.dot_general %21, %41, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x64xf32>, tensor<64x3xf32>) -> tensor<4x3xf32>
    return %42 : tensor<4x3xf32>
  }
}
