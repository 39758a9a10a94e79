module {
  func.func @main(%arg0: tensor<4x8xf32>, %arg1: tensor<4x3xi64>) -> tensor<4x8xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<4x8xf32>
    %0 = stablehlo.slice %arg1 [0:4, 0:1] : (tensor<4x3xi64>) -> tensor<4x1xi64>
    %1 = stablehlo.reshape %0 : (tensor<4x1xi64>) -> tensor<4xi64>
    %2 = stablehlo.reshape %1 : (tensor<4xi64>) -> tensor<4x1xi64>
    %3 = "stablehlo.scatter"(%arg0, %2, %cst) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %4 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<4x8xf32>, tensor<4x1xi64>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %3 : tensor<4x8xf32>
  }
}
