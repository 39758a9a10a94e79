module {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c2_i64 = arith.constant 2 : i64
    %c1_i64 = arith.constant 1 : i64
    %c3_i64 = arith.constant 3 : i64
    %c0 = arith.constant 0 : index
    %cst = arith.constant dense<2.8284271247461903> : tensor<1xf64>
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = stablehlo.convert %cst : (tensor<1xf64>) -> tensor<1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
    %3 = shape.shape_of %arg0 : tensor<?x8xf32> -> tensor<2xindex>
    %4 = stablehlo.dynamic_broadcast_in_dim %arg0, %3, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %5 = stablehlo.dynamic_broadcast_in_dim %2, %3, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x8xf32>
    %6 = stablehlo.divide %4, %5 : tensor<?x8xf32>
    %7 = arith.muli %0, %c3_i64 : i64
    %8 = arith.subi %7, %c1_i64 : i64
    %9 = arith.floordivsi %8, %c2_i64 : i64
    %from_elements = tensor.from_elements %9 : tensor<1xi64>
    %10 = stablehlo.convert %from_elements : (tensor<1xi64>) -> tensor<1xf32>
    %11 = stablehlo.reshape %10 : (tensor<1xf32>) -> tensor<f32>
    %12 = shape.shape_of %6 : tensor<?x8xf32> -> tensor<2xindex>
    %13 = stablehlo.dynamic_broadcast_in_dim %6, %12, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %14 = stablehlo.dynamic_broadcast_in_dim %11, %12, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x8xf32>
    %15 = stablehlo.add %13, %14 : tensor<?x8xf32>
    return %15 : tensor<?x8xf32>
  }
}
