module @jit_bit_tricks attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xi32>) -> (tensor<8xui32> {jax.result_info = "result[0]"}, tensor<8xui32> {jax.result_info = "result[1]"}, tensor<8xui32> {jax.result_info = "result[2]"}, tensor<8xui32> {jax.result_info = "result[3]"}, tensor<8xf32> {jax.result_info = "result[4]"}, tensor<8xi32> {jax.result_info = "result[5]"}, tensor<8xi8> {jax.result_info = "result[6]"}, tensor<8xui16> {jax.result_info = "result[7]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<8xi32>) -> tensor<8xui32>
    %1 = stablehlo.popcnt %0 : tensor<8xui32>
    %2 = stablehlo.count_leading_zeros %0 : tensor<8xui32>
    %c = stablehlo.constant dense<3> : tensor<ui32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<8xui32>
    %4 = stablehlo.shift_left %0, %3 : tensor<8xui32>
    %c_0 = stablehlo.constant dense<5> : tensor<ui32>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<8xui32>
    %6 = stablehlo.shift_right_logical %0, %5 : tensor<8xui32>
    %7 = stablehlo.bitcast_convert %arg0 : (tensor<8xi32>) -> tensor<8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %9 = stablehlo.multiply %7, %8 : tensor<8xf32>
    %c_1 = stablehlo.constant dense<21845> : tensor<i32>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %11 = stablehlo.xor %arg0, %10 : tensor<8xi32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %13 = stablehlo.shift_right_arithmetic %arg0, %12 : tensor<8xi32>
    %14 = stablehlo.not %13 : tensor<8xi32>
    %15 = stablehlo.and %11, %14 : tensor<8xi32>
    %16 = stablehlo.convert %arg0 : (tensor<8xi32>) -> tensor<8xi8>
    %17 = stablehlo.convert %arg0 : (tensor<8xi32>) -> tensor<8xui16>
    return %1, %2, %4, %6, %9, %15, %16, %17 : tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xui32>, tensor<8xf32>, tensor<8xi32>, tensor<8xi8>, tensor<8xui16>
  }
}
