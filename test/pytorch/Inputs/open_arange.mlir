module {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c = stablehlo.constant dense<1> : tensor<i64>
    %c_0 = stablehlo.constant dense<0> : tensor<i64>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %from_elements = tensor.from_elements %0 : tensor<1xi64>
    %1 = stablehlo.convert %from_elements : tensor<1xi64>
    %2 = stablehlo.reshape %1 : (tensor<1xi64>) -> tensor<i64>
    %3 = stablehlo.subtract %2, %c_0 : tensor<i64>
    %4 = stablehlo.convert %c : (tensor<i64>) -> tensor<f64>
    %5 = stablehlo.convert %3 : (tensor<i64>) -> tensor<f64>
    %6 = stablehlo.divide %5, %4 : tensor<f64>
    %7 = stablehlo.ceil %6 : tensor<f64>
    %8 = stablehlo.convert %7 : (tensor<f64>) -> tensor<i64>
    %9 = stablehlo.reshape %8 : (tensor<i64>) -> tensor<1xi64>
    %10 = stablehlo.dynamic_iota %9, dim = 0 : (tensor<1xi64>) -> tensor<?xi64>
    %11 = shape.shape_of %10 : tensor<?xi64> -> tensor<1xindex>
    %12 = stablehlo.dynamic_broadcast_in_dim %10, %11, dims = [0] : (tensor<?xi64>, tensor<1xindex>) -> tensor<?xi64>
    %13 = stablehlo.dynamic_broadcast_in_dim %c, %11, dims = [] : (tensor<i64>, tensor<1xindex>) -> tensor<?xi64>
    %14 = stablehlo.multiply %12, %13 : tensor<?xi64>
    %15 = shape.shape_of %14 : tensor<?xi64> -> tensor<1xindex>
    %16 = stablehlo.dynamic_broadcast_in_dim %14, %15, dims = [0] : (tensor<?xi64>, tensor<1xindex>) -> tensor<?xi64>
    %17 = stablehlo.dynamic_broadcast_in_dim %c_0, %15, dims = [] : (tensor<i64>, tensor<1xindex>) -> tensor<?xi64>
    %18 = stablehlo.add %16, %17 : tensor<?xi64>
    %dim_1 = tensor.dim %18, %c0 : tensor<?xi64>
    %from_elements_2 = tensor.from_elements %dim_1, %c1 : tensor<2xindex>
    %19 = stablehlo.dynamic_reshape %18, %from_elements_2 : (tensor<?xi64>, tensor<2xindex>) -> tensor<?x1xi64>
    %20 = stablehlo.convert %19 : (tensor<?x1xi64>) -> tensor<?x1xf32>
    %21 = shape.shape_of %arg0 : tensor<?x8xf32> -> tensor<2xindex>
    %22 = shape.shape_of %20 : tensor<?x1xf32> -> tensor<2xindex>
    %23 = shape.cstr_broadcastable %21, %22 : tensor<2xindex>, tensor<2xindex>
    %24 = shape.assuming %23 -> (tensor<?x8xf32>) {
      %25 = shape.broadcast %21, %22 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
      %26 = stablehlo.dynamic_broadcast_in_dim %arg0, %25, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %27 = stablehlo.dynamic_broadcast_in_dim %20, %25, dims = [0, 1] : (tensor<?x1xf32>, tensor<2xindex>) -> tensor<?x8xf32>
      %28 = stablehlo.multiply %26, %27 : tensor<?x8xf32>
      shape.assuming_yield %28 : tensor<?x8xf32>
    }
    return %24 : tensor<?x8xf32>
  }
}
