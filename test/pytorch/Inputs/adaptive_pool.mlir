module {
  func.func @main(%arg0: tensor<2x3x16x16xf32>) -> tensor<2x3x4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<8> : tensor<i64>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 4, 2>, window_strides = array<i64: 1, 1, 4, 2>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<2x3x16x16xf32>, tensor<f32>) -> tensor<2x3x4x8xf32>
    %1 = stablehlo.convert %c : (tensor<i64>) -> tensor<f32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2x3x4x8xf32>
    %3 = stablehlo.divide %0, %2 : tensor<2x3x4x8xf32>
    return %3 : tensor<2x3x4x8xf32>
  }
}
