module {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xi64>) -> tensor<4x3xf32> {
    %c = stablehlo.constant dense<8> : tensor<4x3xi64>
    %0 = stablehlo.remainder %arg1, %c : tensor<4x3xi64>
    %1 = stablehlo.iota dim = 0 : tensor<4x3x1xi64>
    %2 = stablehlo.reshape %0 : (tensor<4x3xi64>) -> tensor<4x3x1xi64>
    %3 = stablehlo.concatenate %1, %2, dim = 2 : (tensor<4x3x1xi64>, tensor<4x3x1xi64>) -> tensor<4x3x2xi64>
    %4 = "stablehlo.gather"(%arg0, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x8xf32>, tensor<4x3x2xi64>) -> tensor<4x3xf32>
    return %4 : tensor<4x3xf32>
  }
}
