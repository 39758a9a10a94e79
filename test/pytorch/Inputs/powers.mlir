module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = stablehlo.constant dense<2> : tensor<i64>
    %cst = arith.constant dense<3> : tensor<1xi64>
    %cst_0 = arith.constant dense<2> : tensor<1xi64>
    %0 = stablehlo.convert %cst : (tensor<1xi64>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %3 = stablehlo.power %arg0, %2 : tensor<4x8xf32>
    %4 = stablehlo.convert %cst_0 : (tensor<1xi64>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %7 = stablehlo.power %6, %arg0 : tensor<4x8xf32>
    %8 = stablehlo.add %3, %7 : tensor<4x8xf32>
    %9 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %11 = stablehlo.divide %arg0, %10 : tensor<4x8xf32>
    %12 = stablehlo.floor %11 : tensor<4x8xf32>
    %13 = stablehlo.add %8, %12 : tensor<4x8xf32>
    %14 = stablehlo.abs %arg0 : tensor<4x8xf32>
    %15 = stablehlo.remainder %14, %6 : tensor<4x8xf32>
    %16 = stablehlo.add %13, %15 : tensor<4x8xf32>
    return %16 : tensor<4x8xf32>
  }
}
