module @jit_sharded_within_a_loop attributes {mhlo.num_partitions = 4 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["a"=2, "b"=2]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}, {name = "b", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<8x4xf32>) -> (tensor<8x8xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{"a", ?}, {?}]>, <@mesh, [{?}, {?}]>] out_shardings=[<@mesh, [{"a", ?}, {?}]>] manual_axes={"a"} (%arg2: tensor<4x8xf32>, %arg3: tensor<8x4xf32>) {
      %c = stablehlo.constant dense<0> : tensor<i32>
      %c_0 = stablehlo.constant dense<0> : tensor<i32>
      %1:4 = stablehlo.while(%iterArg = %arg3, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %arg2) : tensor<8x4xf32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>
      cond {
        %c_4 = stablehlo.constant dense<3> : tensor<i32>
        %5 = sdy.sharding_constraint %iterArg_1 <@mesh, []> : tensor<i32>
        %6 = sdy.sharding_constraint %c_4 <@mesh, []> : tensor<i32>
        %7 = stablehlo.compare LT, %5, %6, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %7 : tensor<i1>
      } do {
        %5:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3) : (tensor<8x4xf32>, tensor<i32>, tensor<4x8xf32>) -> (tensor<i32>, tensor<4x8xf32>)
        %c_4 = stablehlo.constant dense<1> : tensor<i32>
        %6 = sdy.sharding_constraint %iterArg_1 <@mesh, []> : tensor<i32>
        %7 = sdy.sharding_constraint %c_4 <@mesh, []> : tensor<i32>
        %8 = stablehlo.add %6, %7 : tensor<i32>
        %9 = sdy.sharding_constraint %8 <@mesh, []> : tensor<i32>
        stablehlo.return %iterArg, %9, %5#0, %5#1 : tensor<8x4xf32>, tensor<i32>, tensor<i32>, tensor<4x8xf32>
      }
      %2 = sdy.sharding_constraint %1#1 <@mesh, []> : tensor<i32>
      %3 = sdy.sharding_constraint %1#2 <@mesh, []> : tensor<i32>
      %4 = sdy.sharding_constraint %1#3 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
      sdy.return %4 : tensor<4x8xf32>
    } : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
  func.func private @closed_call(%arg0: tensor<8x4xf32>, %arg1: tensor<i32>, %arg2: tensor<4x8xf32>) -> (tensor<i32>, tensor<4x8xf32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = sdy.sharding_constraint %arg1 <@mesh, []> : tensor<i32>
    %1 = sdy.sharding_constraint %c <@mesh, []> : tensor<i32>
    %2 = stablehlo.add %0, %1 : tensor<i32>
    %3 = sdy.sharding_constraint %2 <@mesh, []> : tensor<i32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %5 = sdy.sharding_constraint %4 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    %6 = stablehlo.multiply %arg2, %5 : tensor<4x8xf32>
    %7 = sdy.sharding_constraint %6 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    %8 = call @product(%arg2, %arg0) : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %9 = stablehlo.tanh %8 : tensor<4x4xf32>
    %10 = sdy.sharding_constraint %9 <@mesh, [{?}, {?}]> : tensor<4x4xf32>
    %11 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %12 = sdy.sharding_constraint %11 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    %13 = stablehlo.dot_general %10, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %14 = sdy.sharding_constraint %13 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    %15 = "stablehlo.collective_permute"(%14) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 2], [2, 0], [1, 3], [3, 1]]> : tensor<4x2xi64>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %16 = stablehlo.add %7, %15 : tensor<4x8xf32>
    %17 = sdy.sharding_constraint %16 <@mesh, [{?}, {?}]> : tensor<4x8xf32>
    return %3, %17 : tensor<i32>, tensor<4x8xf32>
  }
  func.func private @product(%arg0: tensor<4x8xf32>, %arg1: tensor<8x4xf32>) -> tensor<4x4xf32> {
    %0 = sdy.manual_computation(%arg0, %arg1) in_shardings=[<@mesh, [{?}, {"b", ?}]>, <@mesh, [{"b", ?}, {?}]>] out_shardings=[<@mesh, [{?}, {?}]>] manual_axes={"b"} (%arg2: tensor<4x4xf32>, %arg3: tensor<4x4xf32>) {
      %1 = stablehlo.dot_general %arg2, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      %2 = "stablehlo.all_reduce"(%1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
        %3 = stablehlo.add %arg4, %arg5 : tensor<f32>
        stablehlo.return %3 : tensor<f32>
      }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}
