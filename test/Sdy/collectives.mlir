// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt %s -mlir-print-op-generic | octavo-opt | FileCheck %s
// RUN: octavo-opt %s -emit-bytecode | octavo-opt | FileCheck %s

sdy.mesh @mesh = <["a"=4, "b"=2, "c"=2]>
sdy.mesh @order = <["a"=4, "b"=2, "c"=2], device_ids=[1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]>

// CHECK-LABEL: func.func @gathered
func.func @gathered(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b", "c"}, {"a"}]>}) {
  // CHECK: sdy.all_gather [{"c"}, {"a":(2)2}] %arg0 out_sharding=<@mesh, [{"b"}, {"a":(1)2}]> : tensor<8x8xf32>
  %0 = sdy.all_gather [{"c"}, {"a":(2)2}] %x out_sharding=<@mesh, [{"b"}, {"a":(1)2}]> : tensor<8x8xf32>
  // CHECK: sdy.all_gather [{}, {"a":(1)2}] %0 out_sharding=<@mesh, [{"b", ?}, {}]> : tensor<8x8xf32>
  %1 = sdy.all_gather [{}, {"a":(1)2}] %0 out_sharding=<@mesh, [{"b", ?}, {}]> : tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @sliced
func.func @sliced(%x: tensor<8x8xf32>) {
  // CHECK: sdy.all_slice [{"b"}, {"a":(1)2}] %arg0 out_sharding=<@mesh, [{"b"}, {"a":(1)2}]> : tensor<8x8xf32>
  %0 = sdy.all_slice [{"b"}, {"a":(1)2}] %x out_sharding=<@mesh, [{"b"}, {"a":(1)2}]> : tensor<8x8xf32>
  // Parts of an axis that are one become one.
  // CHECK: sdy.all_slice [{}, {"a":(2)2}] %0 out_sharding=<@mesh, [{"b"}, {"a"}]> : tensor<8x8xf32>
  %1 = sdy.all_slice [{}, {"a":(2)2}] %0 out_sharding=<@mesh, [{"b"}, {"a"}]> : tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @exchanged
func.func @exchanged(%x: tensor<8x8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}, {"c"}, {}]>}) {
  // CHECK: sdy.all_to_all [{"a":(2)2, "b"}: 0->1, {"c"}: 2->3] %arg0 out_sharding=<@mesh, [{"a":(1)2}, {"a":(2)2, "b"}, {}, {"c"}]> : tensor<8x8x8x8xf32>
  %0 = sdy.all_to_all [{"a":(2)2, "b"}: 0->1, {"c"}: 2->3] %x out_sharding=<@mesh, [{"a":(1)2}, {"a":(2)2, "b"}, {}, {"c"}]> : tensor<8x8x8x8xf32>
  // CHECK: sdy.collective_permute %0 out_sharding=<@mesh, [{"c"}, {"b", "a":(1)2}, {}, {"a":(2)2}]> : tensor<8x8x8x8xf32>
  %1 = sdy.collective_permute %0 out_sharding=<@mesh, [{"c"}, {"b", "a":(1)2}, {}, {"a":(2)2}]> : tensor<8x8x8x8xf32>
  // CHECK: sdy.collective_permute %1 out_sharding=<@order, [{"c"}, {"a"}, {}, {"b"}]> : tensor<8x8x8x8xf32>
  %2 = sdy.collective_permute %1 out_sharding=<@order, [{"c"}, {"a"}, {}, {"b"}]> : tensor<8x8x8x8xf32>
  return
}

// CHECK-LABEL: func.func @summed
func.func @summed(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}], unreduced={"a", "c"}>}) {
  // CHECK: sdy.all_reduce {"a":(1)2} %arg0 out_sharding=<@mesh, [{"b"}, {}], unreduced={"a":(2)2, "c"}> : tensor<8x8xf32>
  %0 = sdy.all_reduce {"a":(1)2} %x out_sharding=<@mesh, [{"b"}, {}], unreduced={"a":(2)2, "c"}> : tensor<8x8xf32>
  // CHECK: sdy.reduce_scatter [{"c"}, {"a":(2)2}] %0 out_sharding=<@mesh, [{"b", "c"}, {"a":(2)2}]> : tensor<8x8xf32>
  %1 = sdy.reduce_scatter [{"c"}, {"a":(2)2}] %0 out_sharding=<@mesh, [{"b", "c"}, {"a":(2)2}]> : tensor<8x8xf32>
  // CHECK: sdy.all_reduce {} %1 out_sharding=<@mesh, [{"b", "c"}, {"a":(2)2}]> : tensor<8x8xf32>
  %2 = sdy.all_reduce {} %1 out_sharding=<@mesh, [{"b", "c"}, {"a":(2)2}]> : tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @unreduced
func.func @unreduced(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {"c"}]>}) {
  // CHECK: sdy.sharded_to_unreduced [{}, {"c"}] %arg0 out_sharding=<@mesh, [{"b"}, {}], unreduced={"c"}> : tensor<8x8xf32>
  %0 = sdy.sharded_to_unreduced [{}, {"c"}] %x out_sharding=<@mesh, [{"b"}, {}], unreduced={"c"}> : tensor<8x8xf32>
  // CHECK: sdy.replicated_to_unreduced {"a"} %0 out_sharding=<@mesh, [{"b"}, {}], unreduced={"a", "c"}> : tensor<8x8xf32>
  %1 = sdy.replicated_to_unreduced {"a"} %0 out_sharding=<@mesh, [{"b"}, {}], unreduced={"a", "c"}> : tensor<8x8xf32>
  return
}

// The sharding of an operand is what its place says: that of a value, of a part, of what a loop hands on.
// CHECK-LABEL: func.func @places
func.func @places(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"b"}, {}]>}) {
  %0 = stablehlo.tanh %x {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} : tensor<8x8xf32>
  %1 = sdy.all_gather [{"b"}, {}] %0 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %2 = sdy.reshard %x <@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %3 = sdy.all_gather [{"a"}, {}] %2 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %4 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b", "c"}, {}]>] out_shardings=[<@mesh, [{"b", "c"}, {}]>] manual_axes={"b"} (%part: tensor<4x8xf32>) {
    // CHECK: sdy.all_gather [{"c"}, {}] %arg1 out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>
    %8 = sdy.all_gather [{"c"}, {}] %part out_sharding=<@mesh, [{}, {}]> : tensor<4x8xf32>
    sdy.return %8 : tensor<4x8xf32>
  } : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %5 = sdy.all_gather [{"b", "c"}, {}] %4 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %6 = stablehlo.while(%i = %x) : tensor<8x8xf32> attributes {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"b"}, {}]>]>} cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // CHECK: sdy.all_gather [{"b"}, {}] %{{.*}} out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %8 = sdy.all_gather [{"b"}, {}] %i out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    stablehlo.return %8 : tensor<8x8xf32>
  }
  %10 = stablehlo.while(%i = %x) : tensor<8x8xf32> cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    // CHECK: sdy.all_gather [{"c"}, {}] %{{.*}} out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    %8 = sdy.all_gather [{"c"}, {}] %i out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    stablehlo.return %8 : tensor<8x8xf32>
  }
  %7 = sdy.data_flow_edge %10 sharding=<@mesh, [{"c"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.all_gather [{"c"}, {}] %{{.*}} out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  %9 = sdy.all_gather [{"c"}, {}] %7 out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// CHECK-LABEL: func.func @computations
func.func @computations(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>, %t: !stablehlo.token) {
  // CHECK: sdy.named_computation<"f">(%arg0) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"b"}, {}]>] (%arg3: tensor<8x8xf32>) {
  %0 = sdy.named_computation<"f">(%x) in_shardings=[<@mesh, [{"a"}, {}]>] out_shardings=[<@mesh, [{"b"}, {}]>] (%arg: tensor<8x8xf32>) {
    %5 = sdy.all_gather [{"a"}, {}] %arg out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
    sdy.return %5 : tensor<8x8xf32>
  // CHECK: } {foo.bar} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  } {foo.bar} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  // CHECK: sdy.data_flow_edge %{{.*}} sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  %1 = sdy.data_flow_edge %0 sharding=<@mesh, [{"a"}, {}]> : tensor<8x8xf32>
  // CHECK: sdy.func_data_flow_edge %arg1 : tensor<8x8xf32>
  %2 = sdy.func_data_flow_edge %y : tensor<8x8xf32>
  // CHECK: sdy.named_computation<"">() () {
  %3 = sdy.named_computation<"">() () {
    // CHECK: sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<1.000000e+00> : tensor<4xf32>
    %5 = sdy.constant {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>]>} dense<1.0> : tensor<4xf32>
    sdy.return %5 : tensor<4xf32>
  } : () -> tensor<4xf32>
  // CHECK: sdy.manual_computation(%arg2) in_shardings=[<@mesh, []>] out_shardings=[<@mesh, []>] manual_axes={"a"} (%arg3: !stablehlo.token) {
  %4 = sdy.manual_computation(%t) in_shardings=[<@mesh, []>] out_shardings=[<@mesh, []>] manual_axes={"a"} (%u: !stablehlo.token) {
    %5 = sdy.sharding_constraint %u <@mesh, []> : !stablehlo.token
    sdy.return %5 : !stablehlo.token
  } : (!stablehlo.token) -> !stablehlo.token
  return
}

// CHECK: @attributes() attributes {
func.func private @attributes() attributes {
  // CHECK-SAME: a = #sdy<axis_ref_list{"a", "b":(1)2}>
  a = #sdy<axis_ref_list{"a", "b":(1)2}>,
  // CHECK-SAME: b = #sdy<list_of_axis_ref_lists[{"a"}, {}]>
  b = #sdy<list_of_axis_ref_lists[{"a"}, {}]>,
  // CHECK-SAME: c = #sdy<all_to_all_param{"a", "b"}: 0->2>
  c = #sdy<all_to_all_param{"a", "b"}: 0->2>,
  // CHECK-SAME: d = #sdy<all_to_all_param_list[{"a"}: 0->1, {"b"}: 2->3]>
  d = #sdy<all_to_all_param_list[{"a"}: 0->1, {"b"}: 2->3]>,
  // CHECK-SAME: e = #sdy.mesh<["a"=2]>
  e = #sdy.mesh<["a"=2], device_ids=[0, 1]>
}
