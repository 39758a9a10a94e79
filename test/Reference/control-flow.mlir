// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Calls, composites (I16), tuples, custom calls (I15).

func.func private @twice(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %y = stablehlo.add %x, %x : tensor<2xf32>
  return %y, %x : tensor<2xf32>, tensor<2xf32>
}

func.func @call() {
  %x = stablehlo.constant dense<[1.0, -2.0]> : tensor<2xf32>
  %y:2 = call @twice(%x) : (tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  check.expect_eq_const %y#0, dense<[2.0, -4.0]> : tensor<2xf32>
  check.expect_eq %y#1, %x : tensor<2xf32>
  return
}

func.func private @scaled_dot_decomposition(%x: tensor<2xf32>) -> tensor<f32> {
  %y = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  return %y : tensor<f32>
}

func.func @composite() {
  %x = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %y = stablehlo.composite "xla.scaled_dot" %x {decomposition = @scaled_dot_decomposition} : (tensor<2xf32>) -> tensor<f32>
  check.expect_eq_const %y, dense<25.0> : tensor<f32>
  return
}

func.func @tuples() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.constant dense<1.5> : tensor<f4E2M1FN>
  %t = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<f4E2M1FN>>
  %a = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xi32>, tensor<f4E2M1FN>>) -> tensor<2xi32>
  %b = stablehlo.get_tuple_element %t[1] : (tuple<tensor<2xi32>, tensor<f4E2M1FN>>) -> tensor<f4E2M1FN>
  check.expect_eq %a, %x : tensor<2xi32>
  check.expect_eq %b, %y : tensor<f4E2M1FN>
  return
}

func.func @optimization_barrier() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = stablehlo.optimization_barrier %x : tensor<2xi32>
  check.expect_eq %y, %x : tensor<2xi32>
  return
}

// amax 384 / 2^8 = 1.5 is the tie of scales 1 and 2: up. 480 / 2 = 240. The second block has scale 1
// and 383, which E4M3FN rounds to 384.
func.func @quantize() {
  %x = stablehlo.constant dense<[[384.0, 3.0, 383.0, -1.0]]> : tensor<1x4xf32>
  %q, %s = stablehlo.custom_call @__op$quantize(%x) : (tensor<1x4xf32>) -> (tensor<1x4xf8E4M3FN>, tensor<1x2xf8E8M0FNU>)
  check.expect_eq_const %q, dense<[[192.0, 1.5, 384.0, -1.0]]> : tensor<1x4xf8E4M3FN>
  check.expect_eq_const %s, dense<[[2.0, 1.0]]> : tensor<1x2xf8E8M0FNU>
  %t = stablehlo.custom_call @__op$quantize(%x) : (tensor<1x4xf32>) -> tuple<tensor<1x4xf8E4M3FN>, tensor<1x2xf8E8M0FNU>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<1x4xf8E4M3FN>, tensor<1x2xf8E8M0FNU>>) -> tensor<1x4xf8E4M3FN>
  check.expect_eq %r, %q : tensor<1x4xf8E4M3FN>
  %d = stablehlo.custom_call @__op$dequantize(%q, %s) : (tensor<1x4xf8E4M3FN>, tensor<1x2xf8E8M0FNU>) -> tensor<1x4xf32>
  check.expect_eq_const %d, dense<[[384.0, 3.0, 384.0, -1.0]]> : tensor<1x4xf32>
  return
}

// [1, 4] by [2, 4] in blocks of 2: row (2, 1, -1, 4) * scales (2, 0.5) is (4, 2, -0.5, 2); the rows
// of the right are (1, 1, 1, 1) and (0.5, 0, 2, 6) with scales (1, 4) and (2, 1).
func.func @block_scaled_dot() {
  %a = stablehlo.constant dense<[[2.0, 1.0, -1.0, 4.0]]> : tensor<1x4xf4E2M1FN>
  %as = stablehlo.constant dense<[[2.0, 0.5]]> : tensor<1x2xf8E8M0FNU>
  %b = stablehlo.constant dense<[[1.0, 1.0, 1.0, 1.0], [0.5, 0.0, 2.0, 6.0]]> : tensor<2x4xf4E2M1FN>
  %bs = stablehlo.constant dense<[[1.0, 4.0], [2.0, 1.0]]> : tensor<2x2xf8E8M0FNU>
  %c = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %as, %bs) : (tensor<1x4xf4E2M1FN>, tensor<2x4xf4E2M1FN>, tensor<1x2xf8E8M0FNU>, tensor<2x2xf8E8M0FNU>) -> tensor<1x2xf32>
  check.expect_eq_const %c, dense<[[12.0, 15.0]]> : tensor<1x2xf32>
  %g = stablehlo.constant dense<0.5> : tensor<f32>
  %d = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %as, %bs, %g) : (tensor<1x4xf4E2M1FN>, tensor<2x4xf4E2M1FN>, tensor<1x2xf8E8M0FNU>, tensor<2x2xf8E8M0FNU>, tensor<f32>) -> tensor<1x2xf32>
  check.expect_eq_const %d, dense<[[6.0, 7.5]]> : tensor<1x2xf32>
  %w = stablehlo.convert %b : (tensor<2x4xf4E2M1FN>) -> tensor<2x4xbf16>
  %e = stablehlo.custom_call @__op$block_scaled_dot(%a, %w, %as) : (tensor<1x4xf4E2M1FN>, tensor<2x4xbf16>, tensor<1x2xf8E8M0FNU>) -> tensor<1x2xf32>
  check.expect_eq_const %e, dense<[[7.5, 13.0]]> : tensor<1x2xf32>
  return
}

func.func @branches() {
  %t = stablehlo.constant dense<true> : tensor<i1>
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %y = "stablehlo.if"(%t) ({
    stablehlo.return %x : tensor<2xi32>
  }, {
    %z = stablehlo.negate %x : tensor<2xi32>
    stablehlo.return %z : tensor<2xi32>
  }) : (tensor<i1>) -> tensor<2xi32>
  check.expect_eq %y, %x : tensor<2xi32>
  // Anything out of range is the last branch.
  %minus = stablehlo.constant dense<-1> : tensor<i32>
  %w = "stablehlo.case"(%minus) ({
    stablehlo.return %x : tensor<2xi32>
  }, {
    %z = stablehlo.negate %x : tensor<2xi32>
    stablehlo.return %z : tensor<2xi32>
  }) : (tensor<i32>) -> tensor<2xi32>
  check.expect_eq_const %w, dense<[-1, -2]> : tensor<2xi32>
  return
}

// 5! and the turns; a loop that never turns gives its operands.
func.func @loops() {
  %n = stablehlo.constant dense<5> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:3 = stablehlo.while(%i = %n, %p = %one, %t = %zero) : tensor<i32>, tensor<i32>, tensor<i32>
  cond {
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %q = stablehlo.multiply %p, %i : tensor<i32>
    %j = stablehlo.subtract %i, %one : tensor<i32>
    %u = stablehlo.add %t, %one : tensor<i32>
    stablehlo.return %j, %q, %u : tensor<i32>, tensor<i32>, tensor<i32>
  }
  check.expect_eq_const %r#1, dense<120> : tensor<i32>
  check.expect_eq_const %r#2, dense<5> : tensor<i32>
  %s = stablehlo.while(%i = %zero) : tensor<i32>
  cond {
    %c = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %one : tensor<i32>
  }
  check.expect_eq %s, %zero : tensor<i32>
  return
}

func.func @tokens() {
  %a = stablehlo.create_token : !stablehlo.token
  %b = stablehlo.after_all %a, %a : !stablehlo.token
  return
}
