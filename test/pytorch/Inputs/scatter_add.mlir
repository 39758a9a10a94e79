module {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xi64>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x3xf32>
    %c = stablehlo.constant dense<8> : tensor<4x3xi64>
    %0 = stablehlo.remainder %arg1, %c : tensor<4x3xi64>
    %1 = stablehlo.slice %cst [0:4, 0:3] : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %2 = stablehlo.iota dim = 0 : tensor<4x3x1xi64>
    %3 = stablehlo.reshape %0 : (tensor<4x3xi64>) -> tensor<4x3x1xi64>
    %4 = stablehlo.concatenate %2, %3, dim = 2 : (tensor<4x3x1xi64>, tensor<4x3x1xi64>) -> tensor<4x3x2xi64>
    %5 = "stablehlo.scatter"(%arg0, %4, %1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %6 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %6 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<4x3x2xi64>, tensor<4x3xf32>) -> tensor<4x8xf32>
    return %5 : tensor<4x8xf32>
  }
}
