module {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %cst = stablehlo.constant dense_resource<torch_tensor_8_torch.float32_2> : tensor<8xf32>
    %cst_0 = stablehlo.constant dense_resource<torch_tensor_8_torch.float32_1> : tensor<8xf32>
    %cst_1 = stablehlo.constant dense_resource<torch_tensor_8_torch.float32> : tensor<8xf32>
    %cst_2 = stablehlo.constant dense_resource<torch_tensor_8_8_torch.float32> : tensor<8x8xf32>
    %c0 = arith.constant 0 : index
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %c1 = arith.constant 1 : index
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_5 = arith.constant dense<1> : tensor<1xi64>
    %c8 = arith.constant 8 : index
    %cst_6 = arith.constant dense<8> : tensor<1xi64>
    %cst_7 = arith.constant dense<1.000000e-05> : tensor<1xf64>
    %0 = shape.const_shape [8] : tensor<1xindex>
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %1 = stablehlo.transpose %cst_2, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %2 = stablehlo.dot_general %arg0, %1, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    %3 = stablehlo.convert %cst_5 : (tensor<1xi64>) -> tensor<1xf32>
    %4 = stablehlo.reshape %3 : (tensor<1xf32>) -> tensor<f32>
    %5 = shape.shape_of %2 : tensor<?x8xf32> -> tensor<2xindex>
    %6 = stablehlo.dynamic_broadcast_in_dim %2, %5, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %7 = stablehlo.dynamic_broadcast_in_dim %4, %5, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x8xf32>
    %8 = stablehlo.multiply %6, %7 : tensor<?x8xf32>
    %from_elements = tensor.from_elements %dim, %c8 : tensor<2xindex>
    %9 = stablehlo.dynamic_broadcast_in_dim %cst_1, %from_elements, dims = [1] : (tensor<8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %10 = shape.shape_of %9 : tensor<?x8xf32> -> tensor<2xindex>
    %11 = stablehlo.dynamic_broadcast_in_dim %9, %10, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %12 = stablehlo.dynamic_broadcast_in_dim %4, %10, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x8xf32>
    %13 = stablehlo.multiply %11, %12 : tensor<?x8xf32>
    %14 = shape.shape_of %8 : tensor<?x8xf32> -> tensor<2xindex>
    %15 = shape.shape_of %13 : tensor<?x8xf32> -> tensor<2xindex>
    %16 = shape.cstr_broadcastable %14, %15 : tensor<2xindex>, tensor<2xindex>
    %17 = shape.assuming %16 -> (tensor<?x8xf32>) {
      %78 = shape.broadcast %14, %15 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %79 = stablehlo.dynamic_broadcast_in_dim %8, %78, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %80 = stablehlo.dynamic_broadcast_in_dim %13, %78, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %81 = stablehlo.add %79, %80 : tensor<?x8xf32>
      shape.assuming_yield %81 : tensor<?x8xf32>
    }
    %18 = stablehlo.convert %17 : (tensor<?x8xf32>) -> tensor<?x8xf64>
    %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf64>, tensor<f64>) -> tensor<?xf64>
    %dim_8 = tensor.dim %18, %c0 : tensor<?x8xf64>
    %from_elements_9 = tensor.from_elements %dim_8, %c1 : tensor<2xindex>
    %20 = stablehlo.dynamic_reshape %19, %from_elements_9 : (tensor<?xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %21 = stablehlo.convert %cst_6 : (tensor<1xi64>) -> tensor<1xf64>
    %22 = stablehlo.reshape %21 : (tensor<1xf64>) -> tensor<f64>
    %23 = shape.shape_of %20 : tensor<?x1xf64> -> tensor<2xindex>
    %24 = stablehlo.dynamic_broadcast_in_dim %20, %23, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %25 = stablehlo.dynamic_broadcast_in_dim %22, %23, dims = [] : (tensor<f64>, tensor<2xindex>) -> tensor<?x1xf64>
    %26 = stablehlo.divide %24, %25 : tensor<?x1xf64>
    %27 = shape.shape_of %18 : tensor<?x8xf64> -> tensor<2xindex>
    %28 = shape.shape_of %26 : tensor<?x1xf64> -> tensor<2xindex>
    %29 = shape.cstr_broadcastable %27, %28 : tensor<2xindex>, tensor<2xindex>
    %30 = shape.assuming %29 -> (tensor<?x8xf64>) {
      %78 = shape.broadcast %27, %28 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %79 = stablehlo.dynamic_broadcast_in_dim %18, %78, dims = [0, 1] : (tensor<?x8xf64>, tensor<2xindex>) -> tensor<?x8xf64>
      %80 = stablehlo.dynamic_broadcast_in_dim %26, %78, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xindex>) -> tensor<?x8xf64>
      %81 = stablehlo.subtract %79, %80 : tensor<?x8xf64>
      shape.assuming_yield %81 : tensor<?x8xf64>
    }
    %31 = shape.shape_of %30 : tensor<?x8xf64> -> tensor<2xindex>
    %32 = stablehlo.dynamic_broadcast_in_dim %30, %31, dims = [0, 1] : (tensor<?x8xf64>, tensor<2xindex>) -> tensor<?x8xf64>
    %33 = stablehlo.multiply %32, %32 : tensor<?x8xf64>
    %34 = stablehlo.reduce(%33 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf64>, tensor<f64>) -> tensor<?xf64>
    %dim_10 = tensor.dim %33, %c0 : tensor<?x8xf64>
    %from_elements_11 = tensor.from_elements %dim_10, %c1 : tensor<2xindex>
    %35 = stablehlo.dynamic_reshape %34, %from_elements_11 : (tensor<?xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %36 = shape.shape_of %35 : tensor<?x1xf64> -> tensor<2xindex>
    %37 = stablehlo.dynamic_broadcast_in_dim %35, %36, dims = [0, 1] : (tensor<?x1xf64>, tensor<2xindex>) -> tensor<?x1xf64>
    %38 = stablehlo.dynamic_broadcast_in_dim %22, %36, dims = [] : (tensor<f64>, tensor<2xindex>) -> tensor<?x1xf64>
    %39 = stablehlo.divide %37, %38 : tensor<?x1xf64>
    %40 = stablehlo.convert %39 : (tensor<?x1xf64>) -> tensor<?x1xf32>
    %41 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_12 = tensor.dim %17, %c0 : tensor<?x8xf32>
    %from_elements_13 = tensor.from_elements %dim_12, %c1 : tensor<2xindex>
    %42 = stablehlo.dynamic_reshape %41, %from_elements_13 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %43 = stablehlo.convert %cst_6 : (tensor<1xi64>) -> tensor<1xf32>
    %44 = stablehlo.reshape %43 : (tensor<1xf32>) -> tensor<f32>
    %45 = shape.shape_of %42 : tensor<?x1xf32> -> tensor<2xindex>
    %46 = stablehlo.dynamic_broadcast_in_dim %42, %45, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %47 = stablehlo.dynamic_broadcast_in_dim %44, %45, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x1xf32>
    %48 = stablehlo.divide %46, %47 : tensor<?x1xf32>
    %49 = stablehlo.convert %cst_7 : (tensor<1xf64>) -> tensor<1xf32>
    %50 = stablehlo.reshape %49 : (tensor<1xf32>) -> tensor<f32>
    %51 = shape.shape_of %40 : tensor<?x1xf32> -> tensor<2xindex>
    %52 = stablehlo.dynamic_broadcast_in_dim %40, %51, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %53 = stablehlo.dynamic_broadcast_in_dim %50, %51, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x1xf32>
    %54 = stablehlo.add %52, %53 : tensor<?x1xf32>
    %55 = stablehlo.rsqrt %54 : tensor<?x1xf32>
    %56 = shape.shape_of %17 : tensor<?x8xf32> -> tensor<2xindex>
    %57 = shape.shape_of %48 : tensor<?x1xf32> -> tensor<2xindex>
    %58 = shape.cstr_broadcastable %56, %57 : tensor<2xindex>, tensor<2xindex>
    %59 = shape.assuming %58 -> (tensor<?x8xf32>) {
      %78 = shape.broadcast %56, %57 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %79 = stablehlo.dynamic_broadcast_in_dim %17, %78, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %80 = stablehlo.dynamic_broadcast_in_dim %48, %78, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %81 = stablehlo.subtract %79, %80 : tensor<?x8xf32>
      shape.assuming_yield %81 : tensor<?x8xf32>
    }
    %60 = shape.shape_of %59 : tensor<?x8xf32> -> tensor<2xindex>
    %61 = shape.shape_of %55 : tensor<?x1xf32> -> tensor<2xindex>
    %62 = shape.cstr_broadcastable %60, %61 : tensor<2xindex>, tensor<2xindex>
    %63 = shape.assuming %62 -> (tensor<?x8xf32>) {
      %78 = shape.broadcast %60, %61 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %79 = stablehlo.dynamic_broadcast_in_dim %59, %78, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %80 = stablehlo.dynamic_broadcast_in_dim %55, %78, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %81 = stablehlo.multiply %79, %80 : tensor<?x8xf32>
      shape.assuming_yield %81 : tensor<?x8xf32>
    }
    %64 = shape.shape_of %63 : tensor<?x8xf32> -> tensor<2xindex>
    %65 = shape.broadcast %64, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %66 = stablehlo.dynamic_broadcast_in_dim %63, %65, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %67 = stablehlo.dynamic_broadcast_in_dim %cst_0, %65, dims = [1] : (tensor<8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %68 = stablehlo.multiply %66, %67 : tensor<?x8xf32>
    %69 = shape.shape_of %68 : tensor<?x8xf32> -> tensor<2xindex>
    %70 = shape.broadcast %69, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %71 = stablehlo.dynamic_broadcast_in_dim %68, %70, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %72 = stablehlo.dynamic_broadcast_in_dim %cst, %70, dims = [1] : (tensor<8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %73 = stablehlo.add %71, %72 : tensor<?x8xf32>
    %74 = shape.shape_of %73 : tensor<?x8xf32> -> tensor<2xindex>
    %75 = stablehlo.dynamic_broadcast_in_dim %cst_4, %74, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x8xf32>
    %76 = stablehlo.maximum %73, %75 : tensor<?x8xf32>
    %77 = stablehlo.dot_general %76, %cst_2, contracting_dims = [1] x [0] : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
    return %77 : tensor<?x8xf32>
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
