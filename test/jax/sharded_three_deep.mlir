module @jit_sharded_three_deep attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}, {name = "c", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<4x6x8xf32>) -> (tensor<8x6x4xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"a", ?}, {?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}, {?}]>] manual_axes={"a"} (%arg1: tensor<2x6x8xf32>) {
      %1 = sdy.manual_computation(%arg1) in_shardings=[<@mesh, [{?}, {"b", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {"b", ?}, {?}]>] manual_axes={"b"} (%arg2: tensor<2x3x8xf32>) {
        %12 = sdy.manual_computation(%arg2) in_shardings=[<@mesh, [{?}, {?}, {"c", ?}]>] out_shardings=[<@mesh, [{"c", ?}, {?}, {?}]>] manual_axes={"c"} (%arg3: tensor<2x3x4xf32>) {
          %23 = "stablehlo.collective_permute"(%arg3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1], [1, 0], [2, 3], [3, 2], [4, 5], [5, 4], [6, 7], [7, 6]]> : tensor<8x2xi64>}> : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
          %c = stablehlo.constant dense<1> : tensor<ui32>
          %c_1 = stablehlo.constant dense<2> : tensor<ui32>
          %24 = stablehlo.partition_id : tensor<ui32>
          %25 = stablehlo.divide %24, %c : tensor<ui32>
          %26 = stablehlo.remainder %25, %c_1 : tensor<ui32>
          %27 = stablehlo.convert %26 : (tensor<ui32>) -> tensor<i32>
          %28 = stablehlo.convert %27 : (tensor<i32>) -> tensor<f32>
          %29 = stablehlo.broadcast_in_dim %28, dims = [] : (tensor<f32>) -> tensor<2x3x4xf32>
          %30 = stablehlo.add %23, %29 : tensor<2x3x4xf32>
          sdy.return %30 : tensor<2x3x4xf32>
        } : (tensor<2x3x8xf32>) -> tensor<4x3x4xf32>
        %13 = "stablehlo.collective_permute"(%12) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1], [4, 6], [6, 4], [5, 7], [7, 5]]> : tensor<8x2xi64>}> : (tensor<4x3x4xf32>) -> tensor<4x3x4xf32>
        %14 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"c"} () {
          %c = stablehlo.constant dense<2> : tensor<ui32>
          %c_1 = stablehlo.constant dense<2> : tensor<ui32>
          %23 = stablehlo.partition_id : tensor<ui32>
          %24 = stablehlo.divide %23, %c : tensor<ui32>
          %25 = stablehlo.remainder %24, %c_1 : tensor<ui32>
          %26 = stablehlo.convert %25 : (tensor<ui32>) -> tensor<i32>
          sdy.return %26 : tensor<i32>
        } : () -> tensor<i32>
        %15 = stablehlo.convert %14 : (tensor<i32>) -> tensor<f32>
        %16 = sdy.sharding_constraint %15 <@mesh, []> : tensor<f32>
        %cst_0 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
        %17 = stablehlo.multiply %cst_0, %16 : tensor<f32>
        %18 = sdy.sharding_constraint %17 <@mesh, []> : tensor<f32>
        %19 = stablehlo.broadcast_in_dim %18, dims = [] : (tensor<f32>) -> tensor<4x3x4xf32>
        %20 = sdy.sharding_constraint %19 <@mesh, [{?}, {?}, {?}]> : tensor<4x3x4xf32>
        %21 = stablehlo.add %13, %20 : tensor<4x3x4xf32>
        %22 = sdy.sharding_constraint %21 <@mesh, [{?}, {?}, {?}]> : tensor<4x3x4xf32>
        sdy.return %22 : tensor<4x3x4xf32>
      } : (tensor<2x6x8xf32>) -> tensor<4x6x4xf32>
      %2 = "stablehlo.collective_permute"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 4], [4, 0], [1, 5], [5, 1], [2, 6], [6, 2], [3, 7], [7, 3]]> : tensor<8x2xi64>}> : (tensor<4x6x4xf32>) -> tensor<4x6x4xf32>
      %3 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, []>] manual_axes={"b", "c"} () {
        %c = stablehlo.constant dense<4> : tensor<ui32>
        %c_0 = stablehlo.constant dense<2> : tensor<ui32>
        %12 = stablehlo.partition_id : tensor<ui32>
        %13 = stablehlo.divide %12, %c : tensor<ui32>
        %14 = stablehlo.remainder %13, %c_0 : tensor<ui32>
        %15 = stablehlo.convert %14 : (tensor<ui32>) -> tensor<i32>
        sdy.return %15 : tensor<i32>
      } : () -> tensor<i32>
      %4 = stablehlo.convert %3 : (tensor<i32>) -> tensor<f32>
      %5 = sdy.sharding_constraint %4 <@mesh, []> : tensor<f32>
      %cst = stablehlo.constant dense<1.000000e+02> : tensor<f32>
      %6 = stablehlo.multiply %cst, %5 : tensor<f32>
      %7 = sdy.sharding_constraint %6 <@mesh, []> : tensor<f32>
      %8 = stablehlo.broadcast_in_dim %7, dims = [] : (tensor<f32>) -> tensor<4x6x4xf32>
      %9 = sdy.sharding_constraint %8 <@mesh, [{?}, {?}, {?}]> : tensor<4x6x4xf32>
      %10 = stablehlo.add %2, %9 : tensor<4x6x4xf32>
      %11 = sdy.sharding_constraint %10 <@mesh, [{?}, {?}, {?}]> : tensor<4x6x4xf32>
      sdy.return %11 : tensor<4x6x4xf32>
    } : (tensor<4x6x8xf32>) -> tensor<8x6x4xf32>
    return %0 : tensor<8x6x4xf32>
  }
}
