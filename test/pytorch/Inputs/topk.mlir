module {
  func.func @main(%arg0: tensor<4x8xf32>) -> tensor<4x2xf32> {
    %0 = stablehlo.iota dim = 1 : tensor<4x8xi64>
    %1:2 = "stablehlo.sort"(%arg0, %0) <{dimension = 1 : i64, is_stable = false}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>, %arg3: tensor<i64>, %arg4: tensor<i64>):
      %3 = stablehlo.compare GT, %arg1, %arg2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }) : (tensor<4x8xf32>, tensor<4x8xi64>) -> (tensor<4x8xf32>, tensor<4x8xi64>)
    %2 = stablehlo.slice %1#0 [0:4, 0:2] : (tensor<4x8xf32>) -> tensor<4x2xf32>
    return %2 : tensor<4x2xf32>
  }
}
