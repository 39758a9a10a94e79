// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s
// What jaxlib 0.10.2 does not know yet: roots that are operands.

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
