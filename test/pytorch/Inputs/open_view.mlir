module {
  func.func @main(%arg0: tensor<?x8xf32>) -> tensor<?x8xf32> {
    %c8_i64 = arith.constant 8 : i64
    %c4_i64 = arith.constant 4 : i64
    %c2_i64 = arith.constant 2 : i64
    %c0 = arith.constant 0 : index
    %dim = tensor.dim %arg0, %c0 : tensor<?x8xf32>
    %0 = arith.index_cast %dim : index to i64
    %1 = shape.shape_of %arg0 : tensor<?x8xf32> -> tensor<2xindex>
    %2 = shape.num_elements %1 : tensor<2xindex> -> index
    %3 = arith.index_cast %2 : index to i64
    %4 = arith.divui %3, %c2_i64 : i64
    %5 = arith.divui %4, %c4_i64 : i64
    %from_elements = tensor.from_elements %5, %c2_i64, %c4_i64 : tensor<3xi64>
    %6 = stablehlo.dynamic_reshape %arg0, %from_elements : (tensor<?x8xf32>, tensor<3xi64>) -> tensor<?x2x4xf32>
    %7 = stablehlo.transpose %6, dims = [0, 2, 1] : (tensor<?x2x4xf32>) -> tensor<?x4x2xf32>
    %from_elements_0 = tensor.from_elements %0, %c8_i64 : tensor<2xi64>
    %8 = stablehlo.dynamic_reshape %7, %from_elements_0 : (tensor<?x4x2xf32>, tensor<2xi64>) -> tensor<?x8xf32>
    %from_elements_1 = tensor.from_elements %0 : tensor<1xi64>
    %9 = stablehlo.convert %from_elements_1 : (tensor<1xi64>) -> tensor<1xf32>
    %10 = stablehlo.reshape %9 : (tensor<1xf32>) -> tensor<f32>
    %11 = shape.shape_of %8 : tensor<?x8xf32> -> tensor<2xindex>
    %12 = stablehlo.dynamic_broadcast_in_dim %8, %11, dims = [0, 1] : (tensor<?x8xf32>, tensor<2xindex>) -> tensor<?x8xf32>
    %13 = stablehlo.dynamic_broadcast_in_dim %10, %11, dims = [] : (tensor<f32>, tensor<2xindex>) -> tensor<?x8xf32>
    %14 = stablehlo.multiply %12, %13 : tensor<?x8xf32>
    return %14 : tensor<?x8xf32>
  }
}
