module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %cst = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = arith.constant dense<-1> : tensor<1xi64>
    %cst_3 = arith.constant dense<1> : tensor<1xi64>
    %0 = stablehlo.convert %cst_2 : (tensor<1xi64>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    %2 = stablehlo.convert %cst_3 : (tensor<1xi64>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.clamp %1, %arg0, %3 : (tensor<f32>, tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
    %5 = stablehlo.round_nearest_even %4 : tensor<4x8xf32>
    %6 = stablehlo.floor %arg0 : tensor<4x8xf32>
    %7 = stablehlo.add %5, %6 : tensor<4x8xf32>
    %8 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %10 = stablehlo.compare GT, %arg0, %9, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %11 = stablehlo.compare LT, %arg0, %9, FLOAT : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
    %12 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<4x8xi1>) -> tensor<4x8xi1>
    %13 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x8xi1>, tensor<4x8xf32>
    %16 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<4x8xi1>) -> tensor<4x8xi1>
    %17 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %18 = stablehlo.broadcast_in_dim %15, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %19 = stablehlo.select %16, %17, %18 : tensor<4x8xi1>, tensor<4x8xf32>
    %20 = stablehlo.abs %arg0 : tensor<4x8xf32>
    %21 = stablehlo.floor %20 : tensor<4x8xf32>
    %22 = stablehlo.multiply %19, %21 : tensor<4x8xf32>
    %23 = stablehlo.add %7, %22 : tensor<4x8xf32>
    return %23 : tensor<4x8xf32>
  }
}
