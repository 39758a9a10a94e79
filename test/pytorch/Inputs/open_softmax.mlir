module {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = shape.const_shape [8] : tensor<1xindex>
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %1 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
    %from_elements = tensor.from_elements %dim, %c1 : tensor<2xindex>
    %2 = stablehlo.dynamic_reshape %1, %from_elements : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %3 = shape.shape_of %arg0 : tensor<?x8xf32> -> tensor<2xindex>
    %4 = shape.shape_of %2 : tensor<?x1xf32> -> tensor<2xindex>
    %5 = shape.cstr_broadcastable %3, %4 : tensor<2xindex>, tensor<2xindex>
    %6 = shape.assuming %5 -> (tensor<?x8xf32>) {
      %25 = shape.broadcast %3, %4 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %26 = stablehlo.dynamic_broadcast_in_dim %arg0, %25, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %27 = stablehlo.dynamic_broadcast_in_dim %2, %25, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %28 = stablehlo.subtract %26, %27 : tensor<?x8xf32>
      shape.assuming_yield %28 : tensor<?x8xf32>
    }
    %7 = stablehlo.exponential %6 : tensor<?x8xf32>
    %8 = stablehlo.reduce(%7 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<?x8xf32>, tensor<f32>) -> tensor<?xf32>
    %dim_1 = tensor.dim %7, %c0 : tensor<?x8xf32>
    %from_elements_2 = tensor.from_elements %dim_1, %c1 : tensor<2xindex>
    %9 = stablehlo.dynamic_reshape %8, %from_elements_2 : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x1xf32>
    %10 = shape.shape_of %7 : tensor<?x8xf32> -> tensor<2xindex>
    %11 = shape.shape_of %9 : tensor<?x1xf32> -> tensor<2xindex>
    %12 = shape.cstr_broadcastable %10, %11 : tensor<2xindex>, tensor<2xindex>
    %13 = shape.assuming %12 -> (tensor<?x8xf32>) {
      %25 = shape.broadcast %10, %11 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %26 = stablehlo.dynamic_broadcast_in_dim %7, %25, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %27 = stablehlo.dynamic_broadcast_in_dim %9, %25, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %28 = stablehlo.divide %26, %27 : tensor<?x8xf32>
      shape.assuming_yield %28 : tensor<?x8xf32>
    }
    %14 = stablehlo.reduce(%arg0 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<?x8xf32>, tensor<f32>) -> tensor<8xf32>
    %15 = arith.index_cast %dim : index to i64
    %from_elements_3 = tensor.from_elements %15 : tensor<1xi64>
    %16 = stablehlo.convert %from_elements_3 : (tensor<1xi64>) -> tensor<1xf32>
    %17 = stablehlo.reshape %16 : (tensor<1xf32>) -> tensor<f32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %19 = stablehlo.divide %14, %18 : tensor<8xf32>
    %20 = shape.shape_of %13 : tensor<?x8xf32> -> tensor<2xindex>
    %21 = shape.broadcast %20, %0 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
    %22 = stablehlo.dynamic_broadcast_in_dim %13, %21, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %23 = stablehlo.dynamic_broadcast_in_dim %19, %21, dims = [1] : (tensor<8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %24 = stablehlo.add %22, %23 : tensor<?x8xf32>
    return %24 : tensor<?x8xf32>
  }
}
