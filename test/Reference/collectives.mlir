// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Collectives (I26) on 2 replicas x 2 partitions, by hand. Process number p = 2 * replica + partition
// has x = [10 p + 1, 10 p + 2], so that every element tells where it came from; expected values are a
// table with a row for each process.

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 2 : i32} {

func.func private @process() -> tensor<i32> {
  %r = stablehlo.replica_id : tensor<ui32>
  %p = stablehlo.partition_id : tensor<ui32>
  %two = stablehlo.constant dense<2> : tensor<ui32>
  %row = stablehlo.multiply %r, %two : tensor<ui32>
  %n = stablehlo.add %row, %p : tensor<ui32>
  %i = stablehlo.convert %n : (tensor<ui32>) -> tensor<i32>
  return %i : tensor<i32>
}

func.func private @row2(%table: tensor<4x2xi32>) -> tensor<2xi32> {
  %n = func.call @process() : () -> tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_slice %table, %n, %z, sizes = [1, 2] : (tensor<4x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
  %v = stablehlo.reshape %s : (tensor<1x2xi32>) -> tensor<2xi32>
  return %v : tensor<2xi32>
}

func.func private @row4(%table: tensor<4x4xi32>) -> tensor<4xi32> {
  %n = func.call @process() : () -> tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_slice %table, %n, %z, sizes = [1, 4] : (tensor<4x4xi32>, tensor<i32>, tensor<i32>) -> tensor<1x4xi32>
  %v = stablehlo.reshape %s : (tensor<1x4xi32>) -> tensor<4xi32>
  return %v : tensor<4xi32>
}

func.func private @x() -> tensor<2xi32> {
  %t = stablehlo.constant dense<[[1, 2], [11, 12], [21, 22], [31, 32]]> : tensor<4x2xi32>
  %x = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  return %x : tensor<2xi32>
}

// Replicas, the second first: partition 0 has processes 2, 0 and partition 1 has 3, 1.
func.func @all_gather_cross_replica() {
  %x = func.call @x() : () -> tensor<2xi32>
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<4xi32>
  %t = stablehlo.constant dense<[[21, 22, 1, 2], [31, 32, 11, 12], [21, 22, 1, 2], [31, 32, 11, 12]]> : tensor<4x4xi32>
  %e = func.call @row4(%t) : (tensor<4x4xi32>) -> tensor<4xi32>
  check.expect_eq %g, %e : tensor<4xi32>
  return
}

// Each replica by itself, with all of its partitions: processes 0, 1 and processes 2, 3.
func.func @all_gather_cross_replica_and_partition() {
  %x = func.call @x() : () -> tensor<2xi32>
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0], [1]]> : tensor<2x1xi64>} : (tensor<2xi32>) -> tensor<4xi32>
  %t = stablehlo.constant dense<[[1, 2, 11, 12], [1, 2, 11, 12], [21, 22, 31, 32], [21, 22, 31, 32]]> : tensor<4x4xi32>
  %e = func.call @row4(%t) : (tensor<4x4xi32>) -> tensor<4xi32>
  check.expect_eq %g, %e : tensor<4xi32>
  return
}

// Numbers of processes: 0, 3 and 2, 1. Two operands.
func.func @all_gather_flattened_ids() {
  %x = func.call @x() : () -> tensor<2xi32>
  %g:2 = "stablehlo.all_gather"(%x, %x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>, use_global_device_ids} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  %t = stablehlo.constant dense<[[1, 2, 31, 32], [21, 22, 11, 12], [21, 22, 11, 12], [1, 2, 31, 32]]> : tensor<4x4xi32>
  %e = func.call @row4(%t) : (tensor<4x4xi32>) -> tensor<4xi32>
  check.expect_eq %g#0, %e : tensor<4xi32>
  check.expect_eq %g#1, %e : tensor<4xi32>
  return
}

// The same groups by a mesh whose devices are 0, 3 / 2, 1.
func.func @all_gather_mesh() {
  %x = func.call @x() : () -> tensor<2xi32>
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 2>], device_ids = dense<[[0, 3], [2, 1]]> : tensor<2x2xi64>>, axes = [#stablehlo.axis_ref<name = "b">]>, use_global_device_ids} : (tensor<2xi32>) -> tensor<4xi32>
  %t = stablehlo.constant dense<[[1, 2, 31, 32], [21, 22, 11, 12], [21, 22, 11, 12], [1, 2, 31, 32]]> : tensor<4x4xi32>
  %e = func.call @row4(%t) : (tensor<4x4xi32>) -> tensor<4xi32>
  check.expect_eq %g, %e : tensor<4xi32>
  // The second of two sub-axes of size 2 of one axis of 4: neighbours.
  %h = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = "a", size = 4>]>, axes = [#stablehlo.axis_ref<name = "a", sub_axis_info = (2)2>]>, use_global_device_ids} : (tensor<2xi32>) -> tensor<4xi32>
  %u = stablehlo.constant dense<[[1, 2, 11, 12], [1, 2, 11, 12], [21, 22, 31, 32], [21, 22, 31, 32]]> : tensor<4x4xi32>
  %f = func.call @row4(%u) : (tensor<4x4xi32>) -> tensor<4xi32>
  check.expect_eq %h, %f : tensor<4xi32>
  return
}

// Subtraction tells the order: 31 - 1 - 11 - 21 is -2.
func.func @all_reduce() {
  %x = func.call @x() : () -> tensor<2xi32>
  %s = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>, use_global_device_ids} : (tensor<2xi32>) -> tensor<2xi32>
  %t = stablehlo.constant dense<[[33, 36], [33, 36], [33, 36], [31, 32]]> : tensor<4x2xi32>
  %e = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %s, %e : tensor<2xi32>
  %d = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.subtract %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[3, 0, 1, 2]]> : tensor<1x4xi64>, use_global_device_ids} : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %d, dense<[-2, -4]> : tensor<2xi32>
  return
}

// The sum is in f32 and rounded once: 16 + 1 + 1
// is 18, where a sum rounded to e4m3fn at each step stays 16 (17 is a tie, to even).
func.func @all_reduce_narrow() {
  %t = stablehlo.constant dense<[[16, 16], [1, 1], [1, 1], [0, 0]]> : tensor<4x2xi32>
  %i = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  %x = stablehlo.convert %i : (tensor<2xi32>) -> tensor<2xf8E4M3FN>
  %s = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<f8E4M3FN>, %b: tensor<f8E4M3FN>):
    %0 = stablehlo.add %a, %b : tensor<f8E4M3FN>
    stablehlo.return %0 : tensor<f8E4M3FN>
  }) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids} : (tensor<2xf8E4M3FN>) -> tensor<2xf8E4M3FN>
  check.expect_eq_const %s, dense<18.0> : tensor<2xf8E4M3FN>
  return
}

func.func @reduce_scatter() {
  %x = func.call @x() : () -> tensor<2xi32>
  %s = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<1xi32>
  // Replica 1 is the group's first.
  %both = stablehlo.concatenate %s, %s, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %t = stablehlo.constant dense<[[24, 24], [44, 44], [22, 22], [42, 42]]> : tensor<4x2xi32>
  %e = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %both, %e : tensor<2xi32>
  %y = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  %u = stablehlo.constant dense<[[22, 24], [42, 44], [22, 24], [42, 44]]> : tensor<4x2xi32>
  %f = func.call @row2(%u) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %y, %f : tensor<2xi32>
  return
}

// Partitions of a replica: 0 gets the first halves, 1 the second.
func.func @all_to_all() {
  %x = func.call @x() : () -> tensor<2xi32>
  %s = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 0 : i64, split_count = 2 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  %t = stablehlo.constant dense<[[1, 11], [2, 12], [21, 31], [22, 32]]> : tensor<4x2xi32>
  %e = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %s, %e : tensor<2xi32>
  return
}

func.func @roots() {
  %x = func.call @x() : () -> tensor<2xi32>
  %s = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  %t = stablehlo.constant dense<[[21, 22], [31, 32], [21, 22], [31, 32]]> : tensor<4x2xi32>
  %e = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %s, %e : tensor<2xi32>
  // Replica 1 is in no group.
  %alone = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0]]> : tensor<1x1xi64>} : (tensor<2xi32>) -> tensor<2xi32>
  %u = stablehlo.constant dense<[[1, 2], [11, 12], [0, 0], [0, 0]]> : tensor<4x2xi32>
  %f = func.call @row2(%u) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %alone, %f : tensor<2xi32>
  %one = stablehlo.constant dense<1> : tensor<1xi32>
  %r = "stablehlo.collective_reduce"(%x, %one) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %0 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %0 : tensor<i32>
  }) {has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>, tensor<1xi32>) -> tensor<2xi32>
  %v = stablehlo.constant dense<[[0, 0], [0, 0], [22, 24], [42, 44]]> : tensor<4x2xi32>
  %g = func.call @row2(%v) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %r, %g : tensor<2xi32>
  return
}

// Partition 0 to partition 1: nobody sends to partition 0.
func.func @routes() {
  %x = func.call @x() : () -> tensor<2xi32>
  %t = stablehlo.constant dense<[[0, 0], [1, 2], [0, 0], [21, 22]]> : tensor<4x2xi32>
  %e = func.call @row2(%t) : (tensor<4x2xi32>) -> tensor<2xi32>
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xi32>):
    %0 = "stablehlo.collective_permute"(%a) {channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>) -> tensor<2xi32>
    stablehlo.return %0 : tensor<2xi32>
  }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
  %s = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq %s, %e : tensor<2xi32>
  %k = stablehlo.create_token : !stablehlo.token
  %k1 = "stablehlo.send"(%x, %k) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  %r:2 = "stablehlo.recv"(%k1) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (!stablehlo.token) -> (tensor<2xi32>, !stablehlo.token)
  check.expect_eq %r#0, %e : tensor<2xi32>
  %o = "stablehlo.outfeed"(%x, %r#1) : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  return
}

// No groups stand for one of all: of the replicas, then of the processes.
func.func @no_groups() {
  %x = func.call @x() : () -> tensor<2xi32>
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<> : tensor<0x0xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  %t0 = stablehlo.constant dense<[[22, 24], [42, 44], [22, 24], [42, 44]]> : tensor<4x2xi32>
  %e0 = func.call @row2(%t0) : (tensor<4x2xi32>) -> tensor<2xi32>
  check.expect_eq %0, %e0 : tensor<2xi32>
  %1 = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<> : tensor<1x0xi64>}> : (tensor<2xi32>) -> tensor<4xi32>
  %t1 = stablehlo.constant dense<[[1, 2, 21, 22], [11, 12, 31, 32], [1, 2, 21, 22], [11, 12, 31, 32]]> : tensor<4x4xi32>
  %e1 = func.call @row4(%t1) : (tensor<4x4xi32>) -> tensor<4xi32>
  check.expect_eq %1, %e1 : tensor<4xi32>
  return
}

}
