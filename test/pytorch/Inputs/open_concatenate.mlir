module {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x9xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c10_i64 = arith.constant 10 : i64
    %cst_0 = arith.constant dense<[0, 1]> : tensor<2xi64>
    %cst_1 = arith.constant dense<1> : tensor<2xi64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %from_elements = tensor.from_elements %dim, %c2 : tensor<2xindex>
    %0 = stablehlo.dynamic_broadcast_in_dim %cst, %from_elements, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x2xf32>
    %1 = stablehlo.concatenate %arg0, %0, dim = 1 : (tensor<?x8xf32>, tensor<?x2xf32>) -> tensor<?x10xf32>
    %dim_2 = tensor.dim %1, %c0 : tensor<?x10xf32>
    %2 = arith.index_cast %dim_2 : index to i64
    %from_elements_3 = tensor.from_elements %2, %c10_i64 : tensor<2xi64>
    %3 = stablehlo.real_dynamic_slice %1, %cst_0, %from_elements_3, %cst_1 : (tensor<?x10xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x9xf32>
    return %3 : tensor<?x9xf32>
  }
}
