// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// sort (I20) and chlo.top_k, by hand.

func.func @pairs() {
  %k = stablehlo.constant dense<[[2, 1, 2, 0], [5, 5, 5, 5]]> : tensor<2x4xi32>
  %v = stablehlo.constant dense<[[0, 1, 2, 3], [3, 2, 1, 0]]> : tensor<2x4xui8>
  %s:2 = "stablehlo.sort"(%k, %v) <{dimension = -1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<ui8>, %d: tensor<ui8>):
    %p = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x4xi32>, tensor<2x4xui8>) -> (tensor<2x4xi32>, tensor<2x4xui8>)
  check.expect_eq_const %s#0, dense<[[0, 1, 2, 2], [5, 5, 5, 5]]> : tensor<2x4xi32>
  check.expect_eq_const %s#1, dense<[[3, 1, 0, 2], [3, 2, 1, 0]]> : tensor<2x4xui8>
  return
}

// Total order, downwards: NaN, 1, +0, -0. IEEE's order with a NaN: every comparison with it is false,
// so nothing moves past it.
func.func @floats() {
  %x = stablehlo.constant dense<[-0.0, 1.0, 0x7FC00000, 0.0]> : tensor<4xf32>
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  check.expect_eq_const %s, dense<[0x7FC00000, 1.0, 0.0, -0.0]> : tensor<4xf32>
  %z = stablehlo.constant dense<[3.0, 2.0, 0x7FC00000]> : tensor<3xf32>
  %t = "stablehlo.sort"(%z) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  check.expect_eq_const %t, dense<[2.0, 3.0, 0x7FC00000]> : tensor<3xf32>
  return
}

// By the remainder of 3: no key that octavo finds, so the comparator is called.
func.func @any_comparator() {
  %x = stablehlo.constant dense<[5, 3, 4, 1, 2, 0]> : tensor<6xi32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %s = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.remainder %a, %three : tensor<i32>
    %q = stablehlo.remainder %b, %three : tensor<i32>
    %r = stablehlo.compare GE, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %n = stablehlo.not %r : tensor<i1>
    stablehlo.return %n : tensor<i1>
  }) : (tensor<6xi32>) -> tensor<6xi32>
  check.expect_eq_const %s, dense<[3, 0, 4, 1, 5, 2]> : tensor<6xi32>
  // A comparator that contradicts itself ends all the same.
  %u = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<6xi32>) -> tensor<6xi32>
  check.expect_eq_const %u, dense<[0, 2, 1, 4, 3, 5]> : tensor<6xi32>
  return
}

func.func @top_k() {
  %x = stablehlo.constant dense<[[1.0, 3.0, 3.0, -1.0], [0.0, -0.0, 0x7FC00000, 5.0]]> : tensor<2x4xf32>
  %v, %i = chlo.top_k(%x, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  check.expect_eq_const %v, dense<[[3.0, 3.0, 1.0], [0x7FC00000, 5.0, 0.0]]> : tensor<2x3xf32>
  check.expect_eq_const %i, dense<[[1, 2, 0], [2, 3, 0]]> : tensor<2x3xi32>
  return
}
