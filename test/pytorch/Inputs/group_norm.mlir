module {
  func.func @main(%arg0: tensor<2x3x16x16xf32>) -> tensor<2x3x16x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f64>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_1 = arith.constant dense<256> : tensor<1xi64>
    %cst_2 = arith.constant dense<1.000000e-05> : tensor<1xf64>
    %0 = stablehlo.reshape %arg0 : (tensor<2x3x16x16xf32>) -> tensor<2x3x1x256xf32>
    %1 = stablehlo.convert %0 : (tensor<2x3x1x256xf32>) -> tensor<2x3x1x256xf64>
    %2 = stablehlo.reduce(%1 init: %cst) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x3x1x256xf64>, tensor<f64>) -> tensor<2x3xf64>
    %3 = stablehlo.reshape %2 : (tensor<2x3xf64>) -> tensor<2x3x1x1xf64>
    %4 = stablehlo.convert %cst_1 : (tensor<1xi64>) -> tensor<1xf64>
    %5 = stablehlo.reshape %4 : (tensor<1xf64>) -> tensor<f64>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f64>) -> tensor<2x3x1x1xf64>
    %7 = stablehlo.divide %3, %6 : tensor<2x3x1x1xf64>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2, 3] : (tensor<2x3x1x1xf64>) -> tensor<2x3x1x256xf64>
    %9 = stablehlo.subtract %1, %8 : tensor<2x3x1x256xf64>
    %10 = stablehlo.multiply %9, %9 : tensor<2x3x1x256xf64>
    %11 = stablehlo.reduce(%10 init: %cst) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x3x1x256xf64>, tensor<f64>) -> tensor<2x3xf64>
    %12 = stablehlo.reshape %11 : (tensor<2x3xf64>) -> tensor<2x3x1x1xf64>
    %13 = stablehlo.divide %12, %6 : tensor<2x3x1x1xf64>
    %14 = stablehlo.convert %13 : (tensor<2x3x1x1xf64>) -> tensor<2x3x1x1xf32>
    %15 = stablehlo.reduce(%0 init: %cst_0) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x3x1x256xf32>, tensor<f32>) -> tensor<2x3xf32>
    %16 = stablehlo.reshape %15 : (tensor<2x3xf32>) -> tensor<2x3x1x1xf32>
    %17 = stablehlo.convert %cst_1 : (tensor<1xi64>) -> tensor<1xf32>
    %18 = stablehlo.reshape %17 : (tensor<1xf32>) -> tensor<f32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<2x3x1x1xf32>
    %20 = stablehlo.divide %16, %19 : tensor<2x3x1x1xf32>
    %21 = stablehlo.convert %cst_2 : (tensor<1xf64>) -> tensor<1xf32>
    %22 = stablehlo.reshape %21 : (tensor<1xf32>) -> tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<2x3x1x1xf32>
    %24 = stablehlo.add %14, %23 : tensor<2x3x1x1xf32>
    %25 = stablehlo.rsqrt %24 : tensor<2x3x1x1xf32>
    %26 = stablehlo.broadcast_in_dim %20, dims = [0, 1, 2, 3] : (tensor<2x3x1x1xf32>) -> tensor<2x3x1x256xf32>
    %27 = stablehlo.subtract %0, %26 : tensor<2x3x1x256xf32>
    %28 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2, 3] : (tensor<2x3x1x1xf32>) -> tensor<2x3x1x256xf32>
    %29 = stablehlo.multiply %27, %28 : tensor<2x3x1x256xf32>
    %30 = stablehlo.reshape %29 : (tensor<2x3x1x256xf32>) -> tensor<2x3x16x16xf32>
    return %30 : tensor<2x3x16x16xf32>
  }
}
