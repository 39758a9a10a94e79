module {
  func.func @main(%arg0: tensor<4x3xi64>) -> tensor<4x3xi64> {
    %c = stablehlo.constant dense<1> : tensor<4x3xi64>
    %c_0 = stablehlo.constant dense<3> : tensor<4x3xi64>
    %c_1 = stablehlo.constant dense<2> : tensor<i64>
    %c_2 = stablehlo.constant dense<0> : tensor<i64>
    %0 = stablehlo.convert %arg0 : (tensor<4x3xi64>) -> tensor<4x3xf64>
    %1 = stablehlo.convert %c_1 : (tensor<i64>) -> tensor<f64>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f64>) -> tensor<4x3xf64>
    %3 = stablehlo.divide %0, %2 : tensor<4x3xf64>
    %4 = stablehlo.floor %3 : tensor<4x3xf64>
    %5 = stablehlo.convert %4 : (tensor<4x3xf64>) -> tensor<4x3xi64>
    %6 = stablehlo.remainder %arg0, %c_0 : tensor<4x3xi64>
    %7 = stablehlo.add %5, %6 : tensor<4x3xi64>
    %8 = stablehlo.compare GT, %arg0, %c, SIGNED : (tensor<4x3xi64>, tensor<4x3xi64>) -> tensor<4x3xi1>
    %9 = stablehlo.convert %8 : (tensor<4x3xi1>) -> tensor<4x3xi32>
    %10 = stablehlo.convert %9 : (tensor<4x3xi32>) -> tensor<4x3xi64>
    %11 = stablehlo.reduce(%10 init: %c_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x3xi64>, tensor<i64>) -> tensor<i64>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<i64>) -> tensor<4x3xi64>
    %13 = stablehlo.add %7, %12 : tensor<4x3xi64>
    return %13 : tensor<4x3xi64>
  }
}
