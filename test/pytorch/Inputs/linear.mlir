module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_8_torch.float32_2> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_8_torch.float32_1> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_2 = stablehlo.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<4x8xf32>
    %cst_6 = arith.constant dense<1> : tensor<1xi64>
    %cst_7 = arith.constant dense<8> : tensor<1xi64>
    %cst_8 = arith.constant dense<1.000000e-05> : tensor<1xf64>
    %0 = stablehlo.transpose %cst_2, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %1 = stablehlo.dot_general %arg0, %0, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.convert %cst_6 : (tensor<1xi64>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %5 = stablehlo.multiply %1, %4 : tensor<4x8xf32>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %7 = stablehlo.multiply %6, %4 : tensor<4x8xf32>
    %8 = stablehlo.add %5, %7 : tensor<4x8xf32>
    %9 = stablehlo.convert %8 : (tensor<4x8xf32>) -> tensor<4x8xf64>
    %10 = stablehlo.reduce(%9 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf64>, tensor<f64>) -> tensor<4xf64>
    %11 = stablehlo.reshape %10 : (tensor<4xf64>) -> tensor<4x1xf64>
    %12 = stablehlo.convert %cst_7 : (tensor<1xi64>) -> tensor<1xf64>
    %13 = stablehlo.reshape %12 : (tensor<1xf64>) -> tensor<f64>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f64>) -> tensor<4x1xf64>
    %15 = stablehlo.divide %11, %14 : tensor<4x1xf64>
    %16 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<4x1xf64>) -> tensor<4x8xf64>
    %17 = stablehlo.subtract %9, %16 : tensor<4x8xf64>
    %18 = stablehlo.multiply %17, %17 : tensor<4x8xf64>
    %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf64>, tensor<f64>) -> tensor<4xf64>
    %20 = stablehlo.reshape %19 : (tensor<4xf64>) -> tensor<4x1xf64>
    %21 = stablehlo.divide %20, %14 : tensor<4x1xf64>
    %22 = stablehlo.convert %21 : (tensor<4x1xf64>) -> tensor<4x1xf32>
    %23 = stablehlo.reduce(%8 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %24 = stablehlo.reshape %23 : (tensor<4xf32>) -> tensor<4x1xf32>
    %25 = stablehlo.convert %cst_7 : (tensor<1xi64>) -> tensor<1xf32>
    %26 = stablehlo.reshape %25 : (tensor<1xf32>) -> tensor<f32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %28 = stablehlo.divide %24, %27 : tensor<4x1xf32>
    %29 = stablehlo.convert %cst_8 : (tensor<1xf64>) -> tensor<1xf32>
    %30 = stablehlo.reshape %29 : (tensor<1xf32>) -> tensor<f32>
    %31 = stablehlo.broadcast_in_dim %30, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %32 = stablehlo.add %22, %31 : tensor<4x1xf32>
    %33 = stablehlo.rsqrt %32 : tensor<4x1xf32>
    %34 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %35 = stablehlo.subtract %8, %34 : tensor<4x8xf32>
    %36 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
    %37 = stablehlo.multiply %35, %36 : tensor<4x8xf32>
    %38 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %39 = stablehlo.multiply %37, %38 : tensor<4x8xf32>
    %40 = stablehlo.broadcast_in_dim %cst, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
    %41 = stablehlo.add %39, %40 : tensor<4x8xf32>
    %42 = stablehlo.maximum %41, %cst_5 : tensor<4x8xf32>
    return %42 : tensor<4x8xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      torch_tensor_8_torch.float32_2: "0x040000000000000000000000000000000000000000000000000000000000000000000000",
      torch_tensor_8_torch.float32_1: "0x040000000000803F0000803F0000803F0000803F0000803F0000803F0000803F0000803F",
      torch_tensor_8_torch.float32: "0x04000000C5BF463E43C836BDCF2B5D3CAAC5A73DAE99603E4ED0AD3E6D7F8BBE1CAD04BE",
      torch_tensor_8_8_torch.float32: "0x0400000022792DBB9C36423EB1FC94BE1D3885BED6700BBEAB2AC23D578AE5BB40878F3EDE8300BD9799BF3D5DD3DABD1B548EBDC2EFACBE90C56FBE9F3D15BE4C94563C6B200F3E403B593EDE7075BE86A71DBEA77F033EF750963EE70395BD7A75873E1E6B69BD353C193DA1E8A33E20EDA7BEC5EA63BEAC4FB7BD661F0DBE9E669C3E85AA6ABE86A826BE53EF7CBE2089A9BE2D5653BE979A9B3E5E8C213E5F782F3E4952983C7B9C39BE6E01753D4D04A9BE68CC82BE4CA43ABE876C643E5D45543EF68F20BEF20251BCB38B673E12F5B33ECBAF0F3EA6A2433DF2BD723E522B55BE70ED863D65588CBE8AEC7ABEF2053BBE10D0233EFD98113E5B7456BEB8BFDA3D"
    }
  }
#-}
