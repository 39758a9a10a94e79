// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s
// What jaxlib 0.10.2 does not know yet, roots that are operands, and what it prints otherwise: a mesh
// within an attribute.

// CHECK-LABEL: func.func @reductions
func.func @reductions(%z: tensor<4xf32>, %root: tensor<1xi32>) {
  // CHECK: "stablehlo.collective_reduce"(%arg0, %arg1) <{has_dynamic_root, replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> ({
  %0 = "stablehlo.collective_reduce"(%z, %root) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @exchanges
func.func @exchanges(%x: tensor<8x3xf32>, %y: tensor<8x1xi4>, %roots: tensor<2xi32>) {
  // CHECK: "stablehlo.collective_broadcast"(%arg0, %arg1, %arg2) <{has_dynamic_root, replica_groups
  %0:2 = "stablehlo.collective_broadcast"(%x, %y, %roots) {has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x3xf32>, tensor<8x1xi4>, tensor<2xi32>) -> (tensor<8x3xf32>, tensor<8x1xi4>)
  return
}

// CHECK-LABEL: func.func @meshes
func.func @meshes(%x: tensor<2xf32>) {
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 8>], device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (2)2>]>
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 8>], device_ids = dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (2)2>]>} : (tensor<2xf32>) -> tensor<4xf32>
  return
}
