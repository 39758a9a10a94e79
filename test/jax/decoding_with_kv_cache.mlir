module @jit_decoding_with_kv_cache attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8xf32>, %arg1: tensor<8x8xf32>) -> (tensor<1x8xf32> {jax.result_info = "result[0][0]"}, tensor<6x8xf32> {jax.result_info = "result[0][1]"}, tensor<6x1x8xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %1 = stablehlo.iota dim = 0 : tensor<6xi32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<6x1x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3:6 = stablehlo.while(%iterArg = %1, %iterArg_1 = %arg1, %iterArg_2 = %c, %iterArg_3 = %arg0, %iterArg_4 = %0, %iterArg_5 = %2) : tensor<6xi32>, tensor<8x8xf32>, tensor<i32>, tensor<1x8xf32>, tensor<6x8xf32>, tensor<6x1x8xf32>
    cond {
      %c_6 = stablehlo.constant dense<6> : tensor<i32>
      %4 = stablehlo.compare LT, %iterArg_2, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<6xi32>, tensor<i32>) -> tensor<i32>
      %5:3 = func.call @closed_call(%iterArg_1, %iterArg_3, %iterArg_4, %4) : (tensor<8x8xf32>, tensor<1x8xf32>, tensor<6x8xf32>, tensor<i32>) -> (tensor<1x8xf32>, tensor<6x8xf32>, tensor<1x8xf32>)
      %6 = func.call @dynamic_update_index_in_dim(%iterArg_5, %5#2, %iterArg_2) : (tensor<6x1x8xf32>, tensor<1x8xf32>, tensor<i32>) -> tensor<6x1x8xf32>
      %c_6 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_2, %c_6 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %7, %5#0, %5#1, %6 : tensor<6xi32>, tensor<8x8xf32>, tensor<i32>, tensor<1x8xf32>, tensor<6x8xf32>, tensor<6x1x8xf32>
    }
    return %3#3, %3#4, %3#5 : tensor<1x8xf32>, tensor<6x8xf32>, tensor<6x1x8xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<6xi32>, %arg1: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<6xi32>, tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.reshape %0 : (tensor<1xi32>) -> tensor<i32>
    return %1 : tensor<i32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<6x8xf32>, %arg3: tensor<i32>) -> (tensor<1x8xf32>, tensor<6x8xf32>, tensor<1x8xf32>) {
    %0 = stablehlo.dot_general %arg1, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare LT, %arg3, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<6> : tensor<i32>
    %2 = stablehlo.add %arg3, %c_0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %arg3 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %4 = stablehlo.dynamic_update_slice %arg2, %0, %3, %c_1 : (tensor<6x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
    %5 = stablehlo.iota dim = 0 : tensor<6xi32>
    %6 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<i32>) -> tensor<6xi32>
    %7 = stablehlo.compare LE, %5, %6, SIGNED : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi1>
    %8 = stablehlo.transpose %4, dims = [1, 0] : (tensor<6x8xf32>) -> tensor<8x6xf32>
    %9 = stablehlo.dot_general %arg1, %8, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x8xf32>, tensor<8x6xf32>) -> tensor<1x6xf32>
    %10 = stablehlo.reshape %9 : (tensor<1x6xf32>) -> tensor<6xf32>
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = call @_where(%7, %10, %cst) : (tensor<6xi1>, tensor<6xf32>, tensor<f32>) -> tensor<6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %12 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.maximum across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %13 = stablehlo.maximum %cst_3, %12 : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0] : (tensor<1xf32>) -> tensor<6xf32>
    %16 = stablehlo.subtract %11, %15 : tensor<6xf32>
    %17 = stablehlo.exponential %16 : tensor<6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17 init: %cst_4) applies stablehlo.add across dimensions = [0] : (tensor<6xf32>, tensor<f32>) -> tensor<f32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<1xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<1xf32>) -> tensor<6xf32>
    %21 = stablehlo.divide %17, %20 : tensor<6xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [1] : (tensor<6xf32>) -> tensor<1x6xf32>
    %23 = stablehlo.dot_general %22, %4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x6xf32>, tensor<6x8xf32>) -> tensor<1x8xf32>
    return %23, %4, %23 : tensor<1x8xf32>, tensor<6x8xf32>, tensor<1x8xf32>
  }
  func.func private @_where(%arg0: tensor<6xi1>, %arg1: tensor<6xf32>, %arg2: tensor<f32>) -> tensor<6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<6xi1>, tensor<6xf32>
    return %2 : tensor<6xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<6x1x8xf32>, %arg1: tensor<1x8xf32>, %arg2: tensor<i32>) -> tensor<6x1x8xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<1x8xf32>) -> tensor<1x1x8xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<6x1x8xf32>, tensor<1x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<6x1x8xf32>
    return %1 : tensor<6x1x8xf32>
  }
}
