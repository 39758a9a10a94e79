// RUN: octavo run %s --backend reference | FileCheck %s

// Shardings change nothing; a manual computation is run for each device.

sdy.mesh @mesh = <["a"=2, "b"=2]>
sdy.mesh @turned = <["c"=4], device_ids=[3, 1, 0, 2]>

// CHECK: @shardings: 1 held, 0 failed
func.func @shardings() {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = sdy.sharding_constraint %x <@mesh, [{"a"}]> : tensor<4xf32>
  %1 = sdy.reshard %0 <@mesh, [{"b"}]> : tensor<4xf32>
  %2 = sdy.propagation_barrier %1 allowed_direction=FORWARD : tensor<4xf32>
  sdy.sharding_group %2 group_id=1 : tensor<4xf32>
  check.expect_eq_const %2, dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  return
}

// Rows along a and columns along b: what a device has of x, times 10, plus its number.
// CHECK: @square: 1 held, 0 failed
func.func @square() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xui32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%part: tensor<1x1xui32>) {
    %ten = stablehlo.constant dense<10> : tensor<1x1xui32>
    %id = stablehlo.partition_id : tensor<ui32>
    %own = stablehlo.reshape %id : (tensor<ui32>) -> tensor<1x1xui32>
    %tens = stablehlo.multiply %part, %ten : tensor<1x1xui32>
    %sum = stablehlo.add %tens, %own : tensor<1x1xui32>
    sdy.return %sum : tensor<1x1xui32>
  } : (tensor<2x2xui32>) -> tensor<2x2xui32>
  check.expect_eq_const %0, dense<[[10, 21], [32, 43]]> : tensor<2x2xui32>
  return
}

// One dimension along both, b the outermost; the result is whole on every device.
// CHECK: @both: 1 held, 0 failed
func.func @both() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"b", "a"}]>] out_shardings=[<@mesh, [{}]>] manual_axes={"a", "b"} (%part: tensor<1xi32>) {
    %all = "stablehlo.all_gather"(%part) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids} : (tensor<1xi32>) -> tensor<4xi32>
    sdy.return %all : tensor<4xi32>
  } : (tensor<4xi32>) -> tensor<4xi32>
  // Devices (a, b) = (0, 0), (0, 1), (1, 0), (1, 1) have elements 0, 2, 1 and 3.
  check.expect_eq_const %0, dense<[1, 3, 2, 4]> : tensor<4xi32>
  return
}

// Places of the mesh in another order than devices: place 0 is device 3. Half an axis is one too.
// CHECK: @turned_and_halved: 1 held, 0 failed
func.func @turned_and_halved() {
  %x = stablehlo.constant dense<[0, 0, 0, 0]> : tensor<4xui32>
  %0:2 = sdy.manual_computation(%x) in_shardings=[<@turned, [{"c"}]>] out_shardings=[<@turned, [{"c"}]>, <@turned, [{"c":(1)2}]>] manual_axes={"c"} (%part: tensor<1xui32>) {
    %id = stablehlo.partition_id : tensor<ui32>
    %own = stablehlo.reshape %id : (tensor<ui32>) -> tensor<1xui32>
    sdy.return %own, %own : tensor<1xui32>, tensor<1xui32>
  } : (tensor<4xui32>) -> (tensor<4xui32>, tensor<2xui32>)
  %all = stablehlo.concatenate %0#0, %0#1, dim = 0 : (tensor<4xui32>, tensor<2xui32>) -> tensor<6xui32>
  check.expect_eq_const %all, dense<[3, 1, 0, 2, 3, 0]> : tensor<6xui32>
  return
}

// A mesh of one device, whatever its number.
// CHECK: @one: 1 held, 0 failed
sdy.mesh @single = <[], device_ids=[3]>
func.func @one() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@single, []>] out_shardings=[<@single, []>] manual_axes={} (%part: tensor<2xi32>) {
    %twice = stablehlo.add %part, %part : tensor<2xi32>
    sdy.return %twice : tensor<2xi32>
  } : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[2, 4]> : tensor<2xi32>
  return
}

// Both halves of an axis, the inner one outermost: places 0 to 3 are (outer, inner) = (0, 0), (0, 1), ...
// CHECK: @halves: 1 held, 0 failed
func.func @halves() {
  %x = stablehlo.constant dense<[10, 20, 30, 40]> : tensor<4xui32>
  %0 = sdy.manual_computation(%x) in_shardings=[<mesh<["c"=4]>, [{"c":(2)2, "c":(1)2}]>] out_shardings=[<mesh<["c"=4]>, [{"c"}]>] manual_axes={"c"} (%part: tensor<1xui32>) {
    sdy.return %part : tensor<1xui32>
  } : (tensor<4xui32>) -> tensor<4xui32>
  check.expect_eq_const %0, dense<[10, 30, 20, 40]> : tensor<4xui32>
  return
}
