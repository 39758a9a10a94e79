module @jit_game_of_life attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x8xi32>) -> (tensor<8x8xi32> {jax.result_info = "result[0]"}, tensor<4xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:3 = stablehlo.while(%iterArg = %c_0, %iterArg_1 = %arg0, %iterArg_2 = %0) : tensor<i32>, tensor<8x8xi32>, tensor<4xi32>
    cond {
      %c_3 = stablehlo.constant dense<4> : tensor<i32>
      %2 = stablehlo.compare LT, %iterArg, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %2:2 = func.call @closed_call(%iterArg_1) : (tensor<8x8xi32>) -> (tensor<8x8xi32>, tensor<i32>)
      %3 = func.call @dynamic_update_index_in_dim(%iterArg_2, %2#1, %iterArg) : (tensor<4xi32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
      %c_3 = stablehlo.constant dense<1> : tensor<i32>
      %4 = stablehlo.add %iterArg, %c_3 : tensor<i32>
      stablehlo.return %4, %2#0, %3 : tensor<i32>, tensor<8x8xi32>, tensor<4xi32>
    }
    return %1#1, %1#2 : tensor<8x8xi32>, tensor<4xi32>
  }
  func.func private @closed_call(%arg0: tensor<8x8xi32>) -> (tensor<8x8xi32>, tensor<i32>) {
    %0 = call @_roll_static(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %2 = stablehlo.add %1, %0 : tensor<8x8xi32>
    %3 = call @_roll_static_0(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %4 = stablehlo.add %2, %3 : tensor<8x8xi32>
    %5 = call @_roll_static_1(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %6 = stablehlo.add %4, %5 : tensor<8x8xi32>
    %7 = call @_roll_static_2(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %8 = stablehlo.add %6, %7 : tensor<8x8xi32>
    %9 = call @_roll_static_3(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %10 = stablehlo.add %8, %9 : tensor<8x8xi32>
    %11 = call @_roll_static_4(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %12 = stablehlo.add %10, %11 : tensor<8x8xi32>
    %13 = call @_roll_static_5(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %14 = stablehlo.add %12, %13 : tensor<8x8xi32>
    %15 = call @_roll_static_6(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %16 = stablehlo.add %14, %15 : tensor<8x8xi32>
    %17 = call @_roll_static_7(%arg0) : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %18 = stablehlo.add %16, %17 : tensor<8x8xi32>
    %19 = stablehlo.subtract %18, %arg0 : tensor<8x8xi32>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %20 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %21 = stablehlo.compare EQ, %19, %20, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %c_1 = stablehlo.constant dense<1> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %23 = stablehlo.compare EQ, %arg0, %22, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %24 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x8xi32>
    %25 = stablehlo.compare EQ, %19, %24, SIGNED : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
    %26 = stablehlo.and %23, %25 : tensor<8x8xi1>
    %27 = stablehlo.or %21, %26 : tensor<8x8xi1>
    %28 = stablehlo.convert %27 : (tensor<8x8xi1>) -> tensor<8x8xi32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %29 = stablehlo.reduce(%28 init: %c_3) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x8xi32>, tensor<i32>) -> tensor<i32>
    return %28, %29 : tensor<8x8xi32>, tensor<i32>
  }
  func.func private @_roll_static(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [1:8, 0:8] : (tensor<8x8xi32>) -> tensor<7x8xi32>
    %1 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<8x8xi32>) -> tensor<1x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7x8xi32>, tensor<1x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 1:8] : (tensor<8x8xi32>) -> tensor<8x7xi32>
    %4 = stablehlo.slice %2 [0:8, 0:1] : (tensor<8x8xi32>) -> tensor<8x1xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x7xi32>, tensor<8x1xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_0(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [1:8, 0:8] : (tensor<8x8xi32>) -> tensor<7x8xi32>
    %1 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<8x8xi32>) -> tensor<1x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7x8xi32>, tensor<1x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 0:8] : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %4 = stablehlo.slice %2 [0:8, 0:0] : (tensor<8x8xi32>) -> tensor<8x0xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x8xi32>, tensor<8x0xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_1(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [1:8, 0:8] : (tensor<8x8xi32>) -> tensor<7x8xi32>
    %1 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<8x8xi32>) -> tensor<1x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<7x8xi32>, tensor<1x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 7:8] : (tensor<8x8xi32>) -> tensor<8x1xi32>
    %4 = stablehlo.slice %2 [0:8, 0:7] : (tensor<8x8xi32>) -> tensor<8x7xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x1xi32>, tensor<8x7xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_2(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [0:8, 0:8] : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %1 = stablehlo.slice %arg0 [0:0, 0:8] : (tensor<8x8xi32>) -> tensor<0x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<8x8xi32>, tensor<0x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 1:8] : (tensor<8x8xi32>) -> tensor<8x7xi32>
    %4 = stablehlo.slice %2 [0:8, 0:1] : (tensor<8x8xi32>) -> tensor<8x1xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x7xi32>, tensor<8x1xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_3(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [0:8, 0:8] : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %1 = stablehlo.slice %arg0 [0:0, 0:8] : (tensor<8x8xi32>) -> tensor<0x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<8x8xi32>, tensor<0x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 0:8] : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %4 = stablehlo.slice %2 [0:8, 0:0] : (tensor<8x8xi32>) -> tensor<8x0xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x8xi32>, tensor<8x0xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_4(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [0:8, 0:8] : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %1 = stablehlo.slice %arg0 [0:0, 0:8] : (tensor<8x8xi32>) -> tensor<0x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<8x8xi32>, tensor<0x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 7:8] : (tensor<8x8xi32>) -> tensor<8x1xi32>
    %4 = stablehlo.slice %2 [0:8, 0:7] : (tensor<8x8xi32>) -> tensor<8x7xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x1xi32>, tensor<8x7xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_5(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [7:8, 0:8] : (tensor<8x8xi32>) -> tensor<1x8xi32>
    %1 = stablehlo.slice %arg0 [0:7, 0:8] : (tensor<8x8xi32>) -> tensor<7x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x8xi32>, tensor<7x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 1:8] : (tensor<8x8xi32>) -> tensor<8x7xi32>
    %4 = stablehlo.slice %2 [0:8, 0:1] : (tensor<8x8xi32>) -> tensor<8x1xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x7xi32>, tensor<8x1xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_6(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [7:8, 0:8] : (tensor<8x8xi32>) -> tensor<1x8xi32>
    %1 = stablehlo.slice %arg0 [0:7, 0:8] : (tensor<8x8xi32>) -> tensor<7x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x8xi32>, tensor<7x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 0:8] : (tensor<8x8xi32>) -> tensor<8x8xi32>
    %4 = stablehlo.slice %2 [0:8, 0:0] : (tensor<8x8xi32>) -> tensor<8x0xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x8xi32>, tensor<8x0xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @_roll_static_7(%arg0: tensor<8x8xi32>) -> tensor<8x8xi32> {
    %0 = stablehlo.slice %arg0 [7:8, 0:8] : (tensor<8x8xi32>) -> tensor<1x8xi32>
    %1 = stablehlo.slice %arg0 [0:7, 0:8] : (tensor<8x8xi32>) -> tensor<7x8xi32>
    %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<1x8xi32>, tensor<7x8xi32>) -> tensor<8x8xi32>
    %3 = stablehlo.slice %2 [0:8, 7:8] : (tensor<8x8xi32>) -> tensor<8x1xi32>
    %4 = stablehlo.slice %2 [0:8, 0:7] : (tensor<8x8xi32>) -> tensor<8x7xi32>
    %5 = stablehlo.concatenate %3, %4, dim = 1 : (tensor<8x1xi32>, tensor<8x7xi32>) -> tensor<8x8xi32>
    return %5 : tensor<8x8xi32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<4xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<4xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<4xi32>, tensor<1xi32>, tensor<i32>) -> tensor<4xi32>
    return %1 : tensor<4xi32>
  }
}
