module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.convert %arg0 : (tensor<4x8xf32>) -> tensor<4x8xbf16>
    %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<4x8xbf16>) -> tensor<8x4xbf16>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x8xbf16>, tensor<8x4xbf16>) -> tensor<4x4xbf16>
    %3 = stablehlo.convert %2 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}
