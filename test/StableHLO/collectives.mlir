// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @gathers
func.func @gathers(%x: tensor<5x2xf32>, %y: tensor<5xi8>, %d: tensor<?x2xf32>) {
  // CHECK: "stablehlo.all_gather"(%arg0, %arg1) <{all_gather_dim = 0 : i64, replica_groups = dense<{{\[\[}}0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<5x2xf32>, tensor<5xi8>) -> (tensor<15x2xf32>, tensor<15xi8>)
  %0:2 = "stablehlo.all_gather"(%x, %y) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<5x2xf32>, tensor<5xi8>) -> (tensor<15x2xf32>, tensor<15xi8>)
  // Groups of replicas and of all their partitions: the size of a group follows from the grid.
  // CHECK: "stablehlo.all_gather"(%arg0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<{{\[\[}}0], [1]]> : tensor<2x1xi64>}> : (tensor<5x2xf32>) -> tensor<5x6xf32>
  %1 = "stablehlo.all_gather"(%x) {all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<5x2xf32>) -> tensor<5x6xf32>
  // CHECK: use_global_device_ids}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = "stablehlo.all_gather"(%d) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return
}

// A mesh may be any symbol that has the attribute.
func.func private @mesh() attributes {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}, {name = "y", size = 3 : i64}]}}

// CHECK-LABEL: func.func @meshes
func.func @meshes(%x: tensor<2xf32>) {
  // CHECK: replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>
  %0 = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "y">]>} : (tensor<2xf32>) -> tensor<6xf32>
  return
}

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<4xf8E4M3FN>, %y: tensor<2x2xf8E4M3FN>, %z: tensor<4xf32>) {
  // CHECK: "stablehlo.all_reduce"(%arg0, %arg1) <{replica_groups = dense<{{\[\[}}0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  %0:2 = "stablehlo.all_reduce"(%x, %y) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>} : (tensor<4xf8E4M3FN>, tensor<2x2xf8E4M3FN>) -> (tensor<4xf32>, tensor<2x2xf32>)
  // CHECK: "stablehlo.reduce_scatter"(%arg2) <{channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<{{\[\[}}1, 0]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
  %1 = "stablehlo.reduce_scatter"(%z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids} : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: "stablehlo.cross-replica-sum"(%arg2) <{replica_groups = dense<{{\[\[}}0, 1]]> : tensor<1x2xi64>}> : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "stablehlo.cross-replica-sum"(%z) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @exchanges
func.func @exchanges(%x: tensor<8x3xf32>, %y: tensor<8x1xi4>) {
  // CHECK: "stablehlo.all_to_all"(%arg0, %arg1) <{concat_dimension = 1 : i64, replica_groups = dense<{{\[\[}}3, 2, 1, 0]]> : tensor<1x4xi64>, split_count = 4 : i64, split_dimension = 0 : i64}> : (tensor<8x3xf32>, tensor<8x1xi4>) -> (tensor<2x12xf32>, tensor<2x4xi4>)
  %0:2 = "stablehlo.all_to_all"(%x, %y) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 4 : i64, replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>} : (tensor<8x3xf32>, tensor<8x1xi4>) -> (tensor<2x12xf32>, tensor<2x4xi4>)
  // CHECK: "stablehlo.all_to_all"{{.*}} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  // CHECK: "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<{{\[\[}}5, 0, 1]]> : tensor<1x3xi64>}> : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %2 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[5, 0, 1]]> : tensor<1x3xi64>} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  // CHECK: "stablehlo.collective_permute"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<{{\[\[}}0, 3], [3, 0]]> : tensor<2x2xi64>}> : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %3 = "stablehlo.collective_permute"(%x) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 3], [3, 0]]> : tensor<2x2xi64>} : (tensor<8x3xf32>) -> tensor<8x3xf32>
  return
}

// CHECK-LABEL: func.func @ids
func.func @ids() -> (tensor<ui32>, tensor<ui32>) {
  // CHECK: %[[P:.*]] = stablehlo.partition_id : tensor<ui32>
  %p = "stablehlo.partition_id"() : () -> tensor<ui32>
  // CHECK: %[[R:.*]] = stablehlo.replica_id : tensor<ui32>
  %r = stablehlo.replica_id : tensor<ui32>
  return %p, %r : tensor<ui32>, tensor<ui32>
}

// CHECK-LABEL: func.func @asynchronous
func.func @asynchronous(%x: tensor<8xf32>) -> tensor<4xf32> {
  // CHECK: %[[F:.*]] = "stablehlo.async_start"(%arg0) ({
  // CHECK: }) : (tensor<8xf32>) -> !stablehlo.future<tensor<4xf32>>
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<8xf32>):
    %s = stablehlo.slice %a [2:6] : (tensor<8xf32>) -> tensor<4xf32>
    stablehlo.return %s : tensor<4xf32>
  }) : (tensor<8xf32>) -> !stablehlo.future<tensor<4xf32>>
  // CHECK: "stablehlo.async_done"(%[[F]]) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<4xf32>>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
