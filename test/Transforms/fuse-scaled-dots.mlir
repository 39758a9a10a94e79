// RUN: octavo-opt %s -octavo-fuse-scaled-dots 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-fuse-scaled-dots -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: octavo-opt %s -octavo-fuse-scaled-dots=overflow=allow -o /dev/null 2>&1 | FileCheck %s --check-prefix=ALLOW
// RUN: not octavo-opt %s -octavo-fuse-scaled-dots=overflow=wrap -o /dev/null 2>&1 | FileCheck %s --check-prefix=ERROR

// ALLOW-NOT: without a clamp

// ERROR: error: octavo-fuse-scaled-dots: no overflow "wrap"; available: clamped allow

!x = !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!w = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>

// Both styles: codes multiplied, then the scales of both sides; the vector of the bias, not its
// broadcast, is an input. The clamp is at the limits of the format.
// CHECK-LABEL: func.func @direct
// CHECK-NEXT: %[[R:.*]]:2 = octavo.fused_dot %arg0, %arg1, %arg2, %arg3 : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>, tensor<f32>, tensor<4xf32>) -> (tensor<f32>, tensor<8x4xf8E4M3FN>) {
// CHECK: octavo.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#1, %[[R]]#0
// REMARK: fuse-scaled-dots.mlir:[[#@LINE+2]]:8: remark: {{.*}} fused: scale, bias, relu, amax, scale, clamp, convert to e4m3fn{{$}}
func.func @direct(%x: tensor<8x64xf8E4M3FN>, %w: tensor<64x4xf8E4M3FN>, %scale: tensor<f32>, %bias: tensor<4xf32>) -> (tensor<8x4xf8E4M3FN>, tensor<f32>) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %s = stablehlo.broadcast_in_dim %scale, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %u = stablehlo.multiply %p, %s : tensor<8x4xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %v = stablehlo.add %u, %b : tensor<8x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %r = stablehlo.maximum %v, %zeros : tensor<8x4xf32>
  %a = stablehlo.reduce(%r init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %d = stablehlo.divide %r, %s : tensor<8x4xf32>
  %low = stablehlo.constant dense<-448.0> : tensor<f32>
  %high = stablehlo.constant dense<448.0> : tensor<f32>
  %c = stablehlo.clamp %low, %d, %high : (tensor<f32>, tensor<8x4xf32>, tensor<f32>) -> tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3FN>
  return %q, %a : tensor<8x4xf8E4M3FN>, tensor<f32>
}

// Several contracted and several free axes.
// CHECK-LABEL: func.func @several_axes
// CHECK-NEXT: octavo.fused_dot %arg0, %arg1 :
// REMARK: fused: relu{{$}}
func.func @several_axes(%x: tensor<2x3x4x8xf8E4M3FN>, %w: tensor<4x8x5x6xf8E4M3FN>) -> tensor<2x3x5x6xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<2x3x5x6xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [2, 3] x [0, 1] : (tensor<2x3x4x8xf8E4M3FN>, tensor<4x8x5x6xf8E4M3FN>) -> tensor<2x3x5x6xf32>
  %r = stablehlo.maximum %y, %zero : tensor<2x3x5x6xf32>
  return %r : tensor<2x3x5x6xf32>
}

// The amax of what goes into the activation, a bias in bf16, and the tanh form of gelu.
// CHECK-LABEL: func.func @gelu_tanh
// CHECK-NEXT: octavo.fused_dot %arg0, %arg1, %arg2 : ({{.*}}, tensor<4xbf16>) -> (tensor<bf16>, tensor<8x4xbf16>)
// REMARK: fused: convert to bf16, bias, amax, gelu (tanh){{$}}
func.func @gelu_tanh(%x: !x, %w: !w, %bias: tensor<4xbf16>) -> (tensor<f32>, tensor<8x4xbf16>) {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %n = stablehlo.convert %p : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xbf16>) -> tensor<8x4xbf16>
  %v = stablehlo.add %n, %b : tensor<8x4xbf16>
  %m = stablehlo.abs %v : tensor<8x4xbf16>
  %least = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %am = stablehlo.reduce(%m init: %least) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xbf16>, tensor<bf16>) -> tensor<bf16>
  %v2 = stablehlo.multiply %v, %v : tensor<8x4xbf16>
  %v3 = stablehlo.multiply %v2, %v : tensor<8x4xbf16>
  %k = stablehlo.constant dense<4.467770e-02> : tensor<8x4xbf16>
  %kv = stablehlo.multiply %k, %v3 : tensor<8x4xbf16>
  %i = stablehlo.add %v, %kv : tensor<8x4xbf16>
  %root = stablehlo.constant dense<7.968750e-01> : tensor<8x4xbf16>
  %j = stablehlo.multiply %root, %i : tensor<8x4xbf16>
  %t = stablehlo.tanh %j : tensor<8x4xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<8x4xbf16>
  %o = stablehlo.add %one, %t : tensor<8x4xbf16>
  %half = stablehlo.constant dense<0.5> : tensor<8x4xbf16>
  %h = stablehlo.multiply %half, %o : tensor<8x4xbf16>
  %g = stablehlo.multiply %v, %h : tensor<8x4xbf16>
  %f = stablehlo.convert %am : (tensor<bf16>) -> tensor<f32>
  return %f, %g : tensor<f32>, tensor<8x4xbf16>
}

// CHECK-LABEL: func.func @gelu_erfc
// CHECK-NEXT: octavo.fused_dot %arg0, %arg1 :
// REMARK: fused: gelu (erfc){{$}}
func.func @gelu_erfc(%x: !x, %w: !w) -> tensor<8x4xf32> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %n = stablehlo.negate %p : tensor<8x4xf32>
  %root = stablehlo.constant dense<0.707106769> : tensor<8x4xf32>
  %m = stablehlo.multiply %n, %root : tensor<8x4xf32>
  %e = chlo.erfc %m : tensor<8x4xf32> -> tensor<8x4xf32>
  %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
  %h = stablehlo.multiply %half, %p : tensor<8x4xf32>
  %g = stablehlo.multiply %h, %e : tensor<8x4xf32>
  return %g : tensor<8x4xf32>
}

// A residual that is scaled beforehand, and silu after a transpose.
// CHECK-LABEL: func.func @silu
// CHECK-NEXT: %[[B:.*]] = stablehlo.multiply %arg2, %arg3
// CHECK-NEXT: %[[R:.*]] = octavo.fused_dot %arg0, %arg1, %[[B]] :
// REMARK: fused: residual, silu{{$}}
func.func @silu(%x: !x, %w: !w, %beta: tensor<4x8xf32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %b = stablehlo.multiply %beta, %c : tensor<4x8xf32>
  %v = stablehlo.add %t, %b : tensor<4x8xf32>
  %l = stablehlo.logistic %v : tensor<4x8xf32>
  %g = stablehlo.multiply %v, %l : tensor<4x8xf32>
  return %g : tensor<4x8xf32>
}

// A batch of products; the bias of each goes to all of its rows.
// CHECK-LABEL: func.func @batched
// CHECK-NEXT: octavo.fused_dot %arg0, %arg1, %arg2 : (tensor<3x8x64xf8E4M3FN>, tensor<3x4x64xf8E5M2>, tensor<3x4xf32>) -> tensor<3x8x4xf8E5M2>
// REMARK: fused: bias, relu, clamp, convert to e5m2{{$}}
func.func @batched(%x: tensor<3x8x64xf8E4M3FN>, %w: tensor<3x4x64xf8E5M2>, %bias: tensor<3x4xf32>) -> tensor<3x8x4xf8E5M2> {
  %p = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x8x64xf8E4M3FN>, tensor<3x4x64xf8E5M2>) -> tensor<3x8x4xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [0, 2] : (tensor<3x4xf32>) -> tensor<3x8x4xf32>
  %v = stablehlo.add %p, %b : tensor<3x8x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<3x8x4xf32>
  %r = stablehlo.maximum %v, %zeros : tensor<3x8x4xf32>
  %low = stablehlo.constant dense<-57344.0> : tensor<f32>
  %high = stablehlo.constant dense<57344.0> : tensor<f32>
  %c = stablehlo.clamp %low, %r, %high : (tensor<f32>, tensor<3x8x4xf32>, tensor<f32>) -> tensor<3x8x4xf32>
  %q = stablehlo.convert %c : (tensor<3x8x4xf32>) -> tensor<3x8x4xf8E5M2>
  return %q : tensor<3x8x4xf8E5M2>
}

// Outer scales multiply the sum at the end: in the epilogue, for the side that has one too.
// CHECK-LABEL: func.func @outer_scales
// CHECK-NEXT: %[[L:.*]] = octavo.pack %arg0, %arg1 : {{.*}} -> !octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16]>
// CHECK-NEXT: %[[R:.*]] = octavo.pack %arg3, %arg4 : {{.*}} -> !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16]>
// CHECK-NEXT: %[[O:.*]] = stablehlo.multiply %arg2, %arg5 : tensor<f32>
// CHECK-NEXT: octavo.fused_dot %[[L]], %[[R]], %[[O]], %arg6
// REMARK: fused: scale, bias{{$}}
func.func @outer_scales(%x: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>, %o: tensor<f32>, %w: tensor<4x64xf4E2M1FN>, %t: tensor<4x4xf8E4M3FN>, %u: tensor<f32>, %bias: tensor<4xf32>) -> tensor<8x4xf32> {
  %l = octavo.pack %x, %s, %o : (tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>, tensor<f32>) -> !octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
  %r = octavo.pack %w, %t, %u : (tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, tensor<f32>) -> !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
  %p = octavo.dot_general %l, %r, contracting_dims = [1] x [1] : (!octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>, !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>) -> tensor<8x4xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %v = stablehlo.add %p, %b : tensor<8x4xf32>
  return %v : tensor<8x4xf32>
}

// By a plain side the outer scale is within the values that are rounded (I13), and in bf16 the sum is rounded once.
// CHECK-LABEL: func.func @outer_scale_of_one_side
// CHECK: octavo.pack {{.*}} outer f32>
// CHECK: octavo.dot_general {{.*}} -> tensor<8x4xf32>
// CHECK: octavo.dot_general {{.*}} -> tensor<8x8xbf16>
func.func @outer_scale_of_one_side(%x: tensor<8x64xf4E2M1FN>, %s: tensor<8x4xf8E4M3FN>, %o: tensor<f32>, %w: tensor<4x64xf32>) -> (tensor<8x4xf32>, tensor<8x8xbf16>) {
  %l = octavo.pack %x, %s, %o : (tensor<8x64xf4E2M1FN>, tensor<8x4xf8E4M3FN>, tensor<f32>) -> !octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
  %p = octavo.dot_general %l, %w, contracting_dims = [1] x [1] : (!octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>, tensor<4x64xf32>) -> tensor<8x4xf32>
  %n = octavo.dot_general %l, %l, contracting_dims = [1] x [1] : (!octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>, !octavo.scaled<8x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>) -> tensor<8x8xbf16>
  return %p, %n : tensor<8x4xf32>, tensor<8x8xbf16>
}

// What takes the product elsewhere is left, and stands after the fused dot.
// CHECK-LABEL: func.func @used_elsewhere
// CHECK-NEXT: %[[R:.*]]:2 = octavo.fused_dot
// CHECK: }
// CHECK-NEXT: %[[S:.*]] = stablehlo.sine %[[R]]#0
// CHECK-NEXT: return %[[S]], %[[R]]#1
// REMARK: fused: relu; then stablehlo.sine ({{.*}}): it is no part of an epilogue
func.func @used_elsewhere(%x: !x, %w: !w) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %s = stablehlo.sine %p : tensor<8x4xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<8x4xf32>
  %r = stablehlo.maximum %p, %zeros : tensor<8x4xf32>
  return %s, %r : tensor<8x4xf32>, tensor<8x4xf32>
}

// Calls are told. A square whose operand is needed anyway stays outside.
// CHECK-LABEL: func.func @call
// CHECK-NEXT: octavo.dot_general
// CHECK-NEXT: call @f
// REMARK: nothing to fuse: func.call ({{.*}}): calls are not looked into: inline them first (--inline)
func.func @call(%x: !x, %w: !w) -> tensor<8x4xf32> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %r = call @f(%p) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}
func.func private @f(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @square
// CHECK-NEXT: octavo.dot_general
// CHECK-NEXT: stablehlo.multiply
// REMARK: nothing to fuse{{$}}
func.func @square(%x: !x, %w: !w) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %s = stablehlo.multiply %p, %p : tensor<8x4xf32>
  return %p, %s : tensor<8x4xf32>, tensor<8x4xf32>
}

// A maximum of values with signs is no amax.
// CHECK-LABEL: func.func @signed_maximum
// CHECK-NEXT: octavo.dot_general
// REMARK: nothing to fuse: stablehlo.reduce ({{.*}}): it is a maximum of values with signs, not of magnitudes
func.func @signed_maximum(%x: !x, %w: !w) -> tensor<f32> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%p init: %least) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

// Each format has limits of its own.
// CHECK-LABEL: func.func @e4m3(
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: clamp, convert to e4m3{{$}}
func.func @e4m3(%x: tensor<8x4xf8E4M3>, %w: tensor<4x4xf8E4M3>) -> tensor<8x4xf8E4M3> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf8E4M3>, tensor<4x4xf8E4M3>) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-240.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<240.0> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3>
  return %q : tensor<8x4xf8E4M3>
}

// CHECK-LABEL: func.func @e3m4(
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: clamp, convert to e3m4{{$}}
func.func @e3m4(%x: tensor<8x4xf8E3M4>, %w: tensor<4x4xf8E3M4>) -> tensor<8x4xf8E3M4> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf8E3M4>, tensor<4x4xf8E3M4>) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-15.5> : tensor<8x4xf32>
  %high = stablehlo.constant dense<15.5> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E3M4>
  return %q : tensor<8x4xf8E3M4>
}

// CHECK-LABEL: func.func @e5m2(
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: clamp, convert to e5m2{{$}}
func.func @e5m2(%x: tensor<8x4xf8E5M2>, %w: tensor<4x4xf8E5M2>) -> tensor<8x4xf8E5M2> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf8E5M2>, tensor<4x4xf8E5M2>) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-57344.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<57344.0> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E5M2>
  return %q : tensor<8x4xf8E5M2>
}

// CHECK-LABEL: func.func @e4m3fnuz(
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: clamp, convert to e4m3fnuz{{$}}
func.func @e4m3fnuz(%x: tensor<8x4xf8E4M3FNUZ>, %w: tensor<4x4xf8E4M3FNUZ>) -> tensor<8x4xf8E4M3FNUZ> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf8E4M3FNUZ>, tensor<4x4xf8E4M3FNUZ>) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-240.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<240.0> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3FNUZ>
  return %q : tensor<8x4xf8E4M3FNUZ>
}

// CHECK-LABEL: func.func @e5m2fnuz(
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: clamp, convert to e5m2fnuz{{$}}
func.func @e5m2fnuz(%x: tensor<8x4xf8E5M2FNUZ>, %w: tensor<4x4xf8E5M2FNUZ>) -> tensor<8x4xf8E5M2FNUZ> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf8E5M2FNUZ>, tensor<4x4xf8E5M2FNUZ>) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-57344.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<57344.0> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E5M2FNUZ>
  return %q : tensor<8x4xf8E5M2FNUZ>
}

// CHECK-LABEL: func.func @e4m3b11fnuz(
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: clamp, convert to e4m3b11fnuz{{$}}
func.func @e4m3b11fnuz(%x: tensor<8x4xf8E4M3B11FNUZ>, %w: tensor<4x4xf8E4M3B11FNUZ>) -> tensor<8x4xf8E4M3B11FNUZ> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xf8E4M3B11FNUZ>, tensor<4x4xf8E4M3B11FNUZ>) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-30.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<30.0> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3B11FNUZ>
  return %q : tensor<8x4xf8E4M3B11FNUZ>
}

// 448 is no limit of e4m3, and no clamp is none: told, unless overflow is allowed. What an
// octavo.convert does about overflow it says itself.
// CHECK-LABEL: func.func @wrong_limits
// CHECK: octavo.fused_dot
// CHECK: stablehlo.clamp
// CHECK-NEXT: octavo.yield
// CHECK: stablehlo.convert
// REMARK: fused: clamp; then stablehlo.convert ({{.*}}): it converts without a clamp to the limits of e4m3, [-240, 240], just before: clamp to them, or allow overflow (overflow=allow)
// ALLOW: fused: clamp, convert to e4m3{{$}}
func.func @wrong_limits(%x: !x, %w: !w) -> tensor<8x4xf8E4M3> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %low = stablehlo.constant dense<-448.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<448.0> : tensor<8x4xf32>
  %c = stablehlo.clamp %low, %p, %high : tensor<8x4xf32>
  %q = stablehlo.convert %c : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3>
  return %q : tensor<8x4xf8E4M3>
}

// CHECK-LABEL: func.func @no_clamp
// CHECK-NEXT: octavo.dot_general
// CHECK-NEXT: stablehlo.convert
// REMARK: nothing to fuse: stablehlo.convert ({{.*}}): it converts without a clamp to the limits of e5m2, [-57344, 57344]
// ALLOW: fused: convert to e5m2{{$}}
func.func @no_clamp(%x: !x, %w: !w) -> tensor<8x4xf8E5M2> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %q = stablehlo.convert %p : (tensor<8x4xf32>) -> tensor<8x4xf8E5M2>
  return %q : tensor<8x4xf8E5M2>
}

// CHECK-LABEL: func.func @saturating
// CHECK-NEXT: octavo.fused_dot
// REMARK: fused: convert to e5m2{{$}}
func.func @saturating(%x: !x, %w: !w) -> tensor<8x4xf8E5M2> {
  %p = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !w) -> tensor<8x4xf32>
  %q = octavo.convert %p, overflow = saturate : tensor<8x4xf32> -> tensor<8x4xf8E5M2>
  return %q : tensor<8x4xf8E5M2>
}

// jax.numpy.clip: a minimum of a maximum, or the other way around, of limits that may be converted.
// CHECK-LABEL: func.func @clip
// CHECK: octavo.fused_dot
// CHECK: stablehlo.maximum
// CHECK: stablehlo.minimum
// CHECK: octavo.yield
// CHECK: octavo.fused_dot
// CHECK: stablehlo.minimum
// CHECK: stablehlo.maximum
// CHECK: octavo.yield
// REMARK: fused: clamp, convert to e4m3fn{{$}}
// REMARK: fused: clamp, convert to e5m2{{$}}
func.func @clip(%x: tensor<8x64xf8E4M3FN>, %w: tensor<64x4xf8E4M3FN>) -> (tensor<8x4xf8E4M3FN>, tensor<8x4xf8E5M2>) {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %c = stablehlo.constant dense<-448> : tensor<i32>
  %d = stablehlo.convert %c : (tensor<i32>) -> tensor<f32>
  %low = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %e = stablehlo.constant dense<448> : tensor<i32>
  %f = stablehlo.convert %e : (tensor<i32>) -> tensor<f32>
  %high = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %m = stablehlo.maximum %low, %p : tensor<8x4xf32>
  %n = stablehlo.minimum %high, %m : tensor<8x4xf32>
  %q = stablehlo.convert %n : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3FN>
  %p2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %high2 = stablehlo.constant dense<57344.0> : tensor<8x4xf32>
  %low2 = stablehlo.constant dense<-57344.0> : tensor<8x4xf32>
  %n2 = stablehlo.minimum %p2, %high2 : tensor<8x4xf32>
  %m2 = stablehlo.maximum %n2, %low2 : tensor<8x4xf32>
  %q2 = stablehlo.convert %m2 : (tensor<8x4xf32>) -> tensor<8x4xf8E5M2>
  return %q, %q2 : tensor<8x4xf8E4M3FN>, tensor<8x4xf8E5M2>
}

// Limits that are not those of the format: others, in f32 and in bf16, and a minimum alone.
// CHECK-LABEL: func.func @clip_elsewhere
// REMARK: without a clamp to the limits of e4m3fn
// REMARK: without a clamp to the limits of e4m3fn
// REMARK: without a clamp to the limits of e4m3fn
func.func @clip_elsewhere(%x: tensor<8x64xf8E4M3FN>, %w: tensor<64x4xf8E4M3FN>) -> (tensor<8x4xf8E4M3FN>, tensor<8x4xf8E4M3FN>, tensor<8x4xf8E4M3FN>) {
  %low = stablehlo.constant dense<-448.0> : tensor<8x4xf32>
  %high = stablehlo.constant dense<448.0> : tensor<8x4xf32>
  %more = stablehlo.constant dense<449.0> : tensor<8x4xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %m = stablehlo.maximum %low, %p : tensor<8x4xf32>
  %n = stablehlo.minimum %more, %m : tensor<8x4xf32>
  %q = stablehlo.convert %n : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3FN>
  %p2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xbf16>
  %c = stablehlo.constant dense<451> : tensor<i32>
  %d = stablehlo.convert %c : (tensor<i32>) -> tensor<bf16>
  %high2 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<bf16>) -> tensor<8x4xbf16>
  %low2 = stablehlo.constant dense<-448.0> : tensor<8x4xbf16>
  %m2 = stablehlo.maximum %low2, %p2 : tensor<8x4xbf16>
  %n2 = stablehlo.minimum %high2, %m2 : tensor<8x4xbf16>
  %q2 = stablehlo.convert %n2 : (tensor<8x4xbf16>) -> tensor<8x4xf8E4M3FN>
  %p3 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %n3 = stablehlo.minimum %high, %p3 : tensor<8x4xf32>
  %q3 = stablehlo.convert %n3 : (tensor<8x4xf32>) -> tensor<8x4xf8E4M3FN>
  return %q, %q2, %q3 : tensor<8x4xf8E4M3FN>, tensor<8x4xf8E4M3FN>, tensor<8x4xf8E4M3FN>
}

// silu as JAX writes it, after a bias; a sigmoid alone.
// CHECK-LABEL: func.func @silu_spelled_out
// REMARK: fused: bias, silu{{$}}
// REMARK: fused: logistic{{$}}
func.func @silu_spelled_out(%x: tensor<8x64xf8E4M3FN>, %w: tensor<64x4xf8E4M3FN>, %bias: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %v = stablehlo.add %p, %b : tensor<8x4xf32>
  %n = stablehlo.negate %v : tensor<8x4xf32>
  %e = stablehlo.exponential %n : tensor<8x4xf32>
  %s = stablehlo.add %ones, %e : tensor<8x4xf32>
  %d = stablehlo.divide %ones, %s : tensor<8x4xf32>
  %y = stablehlo.multiply %v, %d : tensor<8x4xf32>
  %p2 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x64xf8E4M3FN>, tensor<64x4xf8E4M3FN>) -> tensor<8x4xf32>
  %n2 = stablehlo.negate %p2 : tensor<8x4xf32>
  %e2 = stablehlo.exponential %n2 : tensor<8x4xf32>
  %s2 = stablehlo.add %e2, %ones : tensor<8x4xf32>
  %d2 = stablehlo.divide %ones, %s2 : tensor<8x4xf32>
  return %y, %d2 : tensor<8x4xf32>, tensor<8x4xf32>
}
