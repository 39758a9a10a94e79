// RUN: octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<8x4xf32>})" | FileCheck %s
// Results of collectives follow from their operands and groups, those of a manual computation from
// what each device has.

sdy.mesh @mesh = <["a"=2, "b"=2]>

// CHECK-LABEL: func.func @main
// CHECK-SAME: -> (tensor<16x4xf32>, tensor<?x4xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<8x2xf32>, tensor<8x?xf32>, tensor<8x4xf32>, tensor<8x4xf32>, tensor<16x4xf32>)
func.func @main(%x: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %gathered = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  // Replicas, each with all of its partitions: the program does not say how many.
  %all = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %turned = "stablehlo.all_to_all"(%x) {split_dimension = 0 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %moved = "stablehlo.all_to_all"(%x) {split_dimension = 1 : i64, concat_dimension = 1 : i64, split_count = 2 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %scattered = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %share = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {scatter_dimension = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %reduced = "stablehlo.collective_reduce"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %sum = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %sum : tensor<f32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %summed = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  // Extents that the body computes with come to it as operands.
  // CHECK: sdy.manual_computation
  // CHECK-SAME: (%{{.*}}: tensor<i32>, %[[PART:.*]]: tensor<4x2xf32>)
  // CHECK: stablehlo.reshape %[[PART]] : (tensor<4x2xf32>) -> tensor<8xf32>
  // CHECK: } : (tensor<i32>, tensor<8x4xf32>) -> tensor<16x4xf32>
  %columns = stablehlo.get_dimension_size %x, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %manual = sdy.manual_computation(%columns, %x) in_shardings=[<@mesh, []>, <@mesh, [{"a"}, {"b"}]>] out_shardings=[<@mesh, [{"a"}, {"b"}]>] manual_axes={"a", "b"} (%n: tensor<i32>, %part: tensor<?x?xf32>) {
    %two = stablehlo.constant dense<2> : tensor<i32>
    %size = stablehlo.multiply %n, %two : tensor<i32>
    %shape = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
    %flat = stablehlo.dynamic_reshape %part, %shape : (tensor<?x?xf32>, tensor<1xi32>) -> tensor<?xf32>
    %column = stablehlo.broadcast_in_dim %flat, dims = [0] : (tensor<?xf32>) -> tensor<8x2xf32>
    %open = stablehlo.convert %column : (tensor<8x2xf32>) -> tensor<?x?xf32>
    sdy.return %open : tensor<?x?xf32>
  } : (tensor<i32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  return %gathered, %all, %turned, %moved, %scattered, %share, %reduced, %summed, %manual : tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
