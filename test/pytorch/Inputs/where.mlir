module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %2 = stablehlo.compare GT, %arg0, %1, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<4x8xi1>) -> tensor<4x8xi1>
    %4 = stablehlo.broadcast_in_dim %arg0, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %6 = stablehlo.select %3, %4, %5 : tensor<4x8xi1>, tensor<4x8xf32>
    return %6 : tensor<4x8xf32>
  }
}
