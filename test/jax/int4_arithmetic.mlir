module @jit_int4_arithmetic attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xi32>, %arg1: tensor<8x4xi32>) -> (tensor<3x8xi32> {jax.result_info = "result[0]"}, tensor<3x8xi32> {jax.result_info = "result[1]"}, tensor<3x8xi32> {jax.result_info = "result[2]"}, tensor<8x4xi32> {jax.result_info = "result[3]"}, tensor<3x8xi32> {jax.result_info = "result[4]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x8xi32>) -> tensor<3x8xi4>
    %1 = stablehlo.convert %arg1 : (tensor<8x4xi32>) -> tensor<8x4xi4>
    %2 = stablehlo.add %0, %0 : tensor<3x8xi4>
    %3 = stablehlo.convert %2 : (tensor<3x8xi4>) -> tensor<3x8xi32>
    %4 = stablehlo.multiply %0, %0 : tensor<3x8xi4>
    %5 = stablehlo.convert %4 : (tensor<3x8xi4>) -> tensor<3x8xi32>
    %c = stablehlo.constant dense<3> : tensor<i4>
    %6 = call @floor_divide(%0, %c) : (tensor<3x8xi4>, tensor<i4>) -> tensor<3x8xi4>
    %7 = stablehlo.convert %6 : (tensor<3x8xi4>) -> tensor<3x8xi32>
    %c_0 = stablehlo.constant dense<1> : tensor<i4>
    %8 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i4>) -> tensor<8x4xi4>
    %9 = stablehlo.subtract %1, %8 : tensor<8x4xi4>
    %10 = stablehlo.convert %9 : (tensor<8x4xi4>) -> tensor<8x4xi32>
    %11 = stablehlo.negate %0 : tensor<3x8xi4>
    %12 = stablehlo.maximum %0, %11 : tensor<3x8xi4>
    %13 = stablehlo.convert %12 : (tensor<3x8xi4>) -> tensor<3x8xi32>
    return %3, %5, %7, %10, %13 : tensor<3x8xi32>, tensor<3x8xi32>, tensor<3x8xi32>, tensor<8x4xi32>, tensor<3x8xi32>
  }
  func.func private @floor_divide(%arg0: tensor<3x8xi4>, %arg1: tensor<i4>) -> tensor<3x8xi4> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i4>) -> tensor<3x8xi4>
    %1 = stablehlo.divide %arg0, %0 : tensor<3x8xi4>
    %2 = stablehlo.sign %arg0 : tensor<3x8xi4>
    %3 = stablehlo.sign %arg1 : tensor<i4>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<i4>) -> tensor<3x8xi4>
    %5 = stablehlo.compare NE, %2, %4, SIGNED : (tensor<3x8xi4>, tensor<3x8xi4>) -> tensor<3x8xi1>
    %6 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i4>) -> tensor<3x8xi4>
    %7 = stablehlo.remainder %arg0, %6 : tensor<3x8xi4>
    %c = stablehlo.constant dense<0> : tensor<i4>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i4>) -> tensor<3x8xi4>
    %9 = stablehlo.compare NE, %7, %8, SIGNED : (tensor<3x8xi4>, tensor<3x8xi4>) -> tensor<3x8xi1>
    %10 = stablehlo.and %5, %9 : tensor<3x8xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i4>
    %11 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i4>) -> tensor<3x8xi4>
    %12 = stablehlo.subtract %1, %11 : tensor<3x8xi4>
    %13 = call @_where(%10, %12, %1) : (tensor<3x8xi1>, tensor<3x8xi4>, tensor<3x8xi4>) -> tensor<3x8xi4>
    return %13 : tensor<3x8xi4>
  }
  func.func private @_where(%arg0: tensor<3x8xi1>, %arg1: tensor<3x8xi4>, %arg2: tensor<3x8xi4>) -> tensor<3x8xi4> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<3x8xi1>, tensor<3x8xi4>
    return %0 : tensor<3x8xi4>
  }
}
