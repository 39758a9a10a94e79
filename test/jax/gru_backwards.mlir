module @jit_gru_backwards attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x12xf32>, %arg1: tensor<4x12xf32>, %arg2: tensor<5x2x6xf32>) -> (tensor<5x2x4xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<5x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2:6 = stablehlo.while(%iterArg = %arg2, %iterArg_1 = %arg0, %iterArg_2 = %arg1, %iterArg_3 = %c, %iterArg_4 = %0, %iterArg_5 = %1) : tensor<5x2x6xf32>, tensor<6x12xf32>, tensor<4x12xf32>, tensor<i32>, tensor<2x4xf32>, tensor<5x2x4xf32>
    cond {
      %c_6 = stablehlo.constant dense<5> : tensor<i32>
      %3 = stablehlo.compare LT, %iterArg_3, %c_6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    } do {
      %c_6 = stablehlo.constant dense<5> : tensor<i32>
      %3 = stablehlo.subtract %c_6, %iterArg_3 : tensor<i32>
      %c_7 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.subtract %3, %c_7 : tensor<i32>
      %5 = func.call @dynamic_index_in_dim(%iterArg, %4) : (tensor<5x2x6xf32>, tensor<i32>) -> tensor<2x6xf32>
      %6:2 = func.call @closed_call(%iterArg_1, %iterArg_2, %iterArg_4, %5) : (tensor<6x12xf32>, tensor<4x12xf32>, tensor<2x4xf32>, tensor<2x6xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
      %7 = func.call @dynamic_update_index_in_dim(%iterArg_5, %6#1, %4) : (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<i32>) -> tensor<5x2x4xf32>
      %c_8 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg_3, %c_8 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_1, %iterArg_2, %8, %6#0, %7 : tensor<5x2x6xf32>, tensor<6x12xf32>, tensor<4x12xf32>, tensor<i32>, tensor<2x4xf32>, tensor<5x2x4xf32>
    }
    return %2#5 : tensor<5x2x4xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<5x2x6xf32>, %arg1: tensor<i32>) -> tensor<2x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 2, 6] : (tensor<5x2x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x2x6xf32>) -> tensor<2x6xf32>
    return %1 : tensor<2x6xf32>
  }
  func.func private @closed_call(%arg0: tensor<6x12xf32>, %arg1: tensor<4x12xf32>, %arg2: tensor<2x4xf32>, %arg3: tensor<2x6xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
    %0 = stablehlo.dot_general %arg3, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6xf32>, tensor<6x12xf32>) -> tensor<2x12xf32>
    %1 = stablehlo.slice %0 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.slice %0 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %3 = stablehlo.slice %0 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %4 = stablehlo.dot_general %arg2, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xf32>, tensor<4x12xf32>) -> tensor<2x12xf32>
    %5 = stablehlo.slice %4 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %6 = stablehlo.slice %4 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %7 = stablehlo.slice %4 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
    %8 = stablehlo.add %2, %6 : tensor<2x4xf32>
    %9 = stablehlo.negate %8 : tensor<2x4xf32>
    %10 = stablehlo.exponential %9 : tensor<2x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %12 = stablehlo.add %11, %10 : tensor<2x4xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %14 = stablehlo.divide %13, %12 : tensor<2x4xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<2x4xf32>
    %17 = stablehlo.add %1, %5 : tensor<2x4xf32>
    %18 = stablehlo.negate %17 : tensor<2x4xf32>
    %19 = stablehlo.exponential %18 : tensor<2x4xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %21 = stablehlo.add %20, %19 : tensor<2x4xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %23 = stablehlo.divide %22, %21 : tensor<2x4xf32>
    %24 = stablehlo.multiply %23, %7 : tensor<2x4xf32>
    %25 = stablehlo.add %3, %24 : tensor<2x4xf32>
    %26 = stablehlo.tanh %25 : tensor<2x4xf32>
    %27 = stablehlo.multiply %16, %26 : tensor<2x4xf32>
    %28 = stablehlo.multiply %14, %arg2 : tensor<2x4xf32>
    %29 = stablehlo.add %27, %28 : tensor<2x4xf32>
    return %29, %29 : tensor<2x4xf32>, tensor<2x4xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<5x2x4xf32>, %arg1: tensor<2x4xf32>, %arg2: tensor<i32>) -> tensor<5x2x4xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<2x4xf32>) -> tensor<1x2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<5x2x4xf32>, tensor<1x2x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x4xf32>
    return %1 : tensor<5x2x4xf32>
  }
}
