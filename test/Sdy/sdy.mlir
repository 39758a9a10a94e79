// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt %s -mlir-print-op-generic | octavo-opt | FileCheck %s
// RUN: octavo-opt %s -emit-bytecode | octavo-opt | FileCheck %s

// CHECK: sdy.mesh @mesh = <["a"=2, "b"=4]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}}
sdy.mesh @mesh = <["a"=2, "b"=4]> {stablehlo.mesh = {axes = [{name = "a", size = 2 : i64}]}}
// CHECK: sdy.mesh @order = <["a"=2], device_ids=[1, 0]>
sdy.mesh @order = <["a"=2], device_ids=[1, 0]>
// CHECK: sdy.mesh @one = <[], device_ids=[3]>
sdy.mesh @one = <[], device_ids=[3]>
// CHECK: sdy.mesh @none = <[]>
sdy.mesh @none = <[]>

// CHECK: %arg0: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p2, {?}], replicated={"b":(1)2}, unreduced={"b":(2)2}>}
func.func @main(%x: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", ?}p2, {?}], replicated={"b":(1)2}, unreduced={"b":(2)2}>}) -> tensor<8x12xf32> {
  // CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"a"}, {}]> : tensor<8x12xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}, {}]> : tensor<8x12xf32>
  // CHECK: sdy.reshard %{{.*}} <mesh<["c"=2]>, [{"c"}, {}]> : tensor<8x12xf32>
  %1 = sdy.reshard %0 <mesh<["c"=2]>, [{"c"}, {}]> : tensor<8x12xf32>
  // CHECK: sdy.propagation_barrier %{{.*}} allowed_direction=BACKWARD : tensor<8x12xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=BACKWARD : tensor<8x12xf32>
  // CHECK: sdy.sharding_group %{{.*}} group_id=4 : tensor<8x12xf32>
  sdy.sharding_group %2 group_id=4 : tensor<8x12xf32>
  // CHECK: sdy.manual_computation(%{{.*}}) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%arg1: tensor<4x3xf32>) {
  // CHECK: sdy.return %arg1 : tensor<4x3xf32>
  // CHECK: } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  %3 = sdy.manual_computation(%2) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%part: tensor<4x3xf32>) {
    sdy.return %part : tensor<4x3xf32>
  } : (tensor<8x12xf32>) -> tensor<8x12xf32>
  // CHECK: sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{}, {"b":(2)2}]>] manual_axes={"b"} () {
  %4 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{}, {"b":(2)2}]>] manual_axes={"b"} () {
    %c = stablehlo.constant dense<1.0> : tensor<8x6xf32>
    sdy.return %c : tensor<8x6xf32>
  } : () -> tensor<8x12xf32>
  return %3 : tensor<8x12xf32>
}

// CHECK: @attributes() attributes {
func.func private @attributes() attributes {
  // CHECK-SAME: a = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=5, j=5, k=5, l=5}, custom>
  a = #sdy.op_sharding_rule<([i, j])->([k, l], []) {i=5, j=5, k=5, l=5}, custom>,
  // CHECK-SAME: b = #sdy.op_sharding_rule<([ij, k, l])->([ijkl]) {i=2, j=3, k=5, l=7} reduction={k} need_replication={i} permutation={j} blocked_propagation={l}>
  b = #sdy.op_sharding_rule<([ij, k, l])->([ijkl]) {i=2, j=3, k=5, l=7} reduction={k} need_replication={i} permutation={j} blocked_propagation={l}>,
  // CHECK-SAME: c = #sdy.op_sharding_rule<([])->([])>
  c = #sdy.op_sharding_rule<([])->([])>,
  // CHECK-SAME: d = #sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1z_2])->([]) {i=1, j=2, k=3, l=4, m=5, n=6, o=7, p=8, q=9, r=10, s=11, t=12, u=13, v=14, w=15, x=16, y=17, z=18, z_1=19, z_2=20}>
  d = #sdy.op_sharding_rule<([i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, z_1z_2])->([]) {i=1, j=2, k=3, l=4, m=5, n=6, o=7, p=8, q=9, r=10, s=11, t=12, u=13, v=14, w=15, x=16, y=17, z=18, z_1=19, z_2=20}>,
  // CHECK-SAME: e = #sdy<manual_axes{"a"}>
  e = #sdy<manual_axes{"a"}>,
  // CHECK-SAME: f = #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, []>]>
  f = #sdy.sharding_per_value<[<@mesh, [{"a"}]>, <@mesh, []>]>
}
