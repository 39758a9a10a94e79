module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
    %extracted = tensor.extract %0[] : tensor<f32>
    %1 = arith.extf %extracted : f32 to f64
    %from_elements = tensor.from_elements %1 : tensor<1xf64>
    %2 = stablehlo.convert %from_elements : (tensor<1xf64>) -> tensor<1xf32>
    %3 = stablehlo.reshape %2 : (tensor<1xf32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %5 = stablehlo.multiply %arg0, %4 : tensor<4x8xf32>
    return %5 : tensor<4x8xf32>
  }
}
