// RUN: octavo run %s --backend reference
// RUN: octavo run %s --backend compiled
// Collectives of quantized elements (I25, I26) on 2 replicas, by hand. Scale 0.5, zero point 3: process
// 0 has the codes [4, 9], which stand for 0.5 and 3, process 1 has [7, 1], which stand for 2 and -1.
!q = !quant.uniform<i8:f32, 0.5:3>
// In quarters from -5.
!w = !quant.uniform<i16:f32, 0.25:-5>

module attributes {mhlo.num_replicas = 2 : i32, mhlo.num_partitions = 1 : i32} {

func.func private @row(%table: tensor<2x2xi8>) -> tensor<2xi8> {
  %r = stablehlo.replica_id : tensor<ui32>
  %i = stablehlo.convert %r : (tensor<ui32>) -> tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_slice %table, %i, %z, sizes = [1, 2] : (tensor<2x2xi8>, tensor<i32>, tensor<i32>) -> tensor<1x2xi8>
  %v = stablehlo.reshape %s : (tensor<1x2xi8>) -> tensor<2xi8>
  return %v : tensor<2xi8>
}

func.func private @x() -> tensor<2x!q> {
  %t = stablehlo.constant dense<[[4, 9], [7, 1]]> : tensor<2x2xi8>
  %x = func.call @row(%t) : (tensor<2x2xi8>) -> tensor<2xi8>
  %q = stablehlo.bitcast_convert %x : (tensor<2xi8>) -> tensor<2x!q>
  return %q : tensor<2x!q>
}

// 0.5 + 2 = 2.5 and 3 - 1 = 2: the codes 8 and 7.
func.func @all_reduce() {
  %x = func.call @x() : () -> tensor<2x!q>
  %g = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<!q>, %b: tensor<!q>):
    %s = stablehlo.add %a, %b : tensor<!q>
    stablehlo.return %s : tensor<!q>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!q>) -> tensor<2x!q>
  %s = stablehlo.bitcast_convert %g : (tensor<2x!q>) -> tensor<2xi8>
  check.expect_eq_const %s, dense<[8, 7]> : tensor<2xi8>
  return
}

// In the body's type: 2.5 / 0.25 - 5 = 5, 2 / 0.25 - 5 = 3. Each process keeps its part.
func.func @reduce_scatter_in_a_wider_type() {
  %x = func.call @x() : () -> tensor<2x!q>
  %g = "stablehlo.reduce_scatter"(%x) ({
  ^bb0(%a: tensor<!w>, %b: tensor<!w>):
    %s = stablehlo.add %a, %b : tensor<!w>
    stablehlo.return %s : tensor<!w>
  }) {scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!q>) -> tensor<1x!w>
  %s = stablehlo.bitcast_convert %g : (tensor<1x!w>) -> tensor<1xi16>
  %r = stablehlo.replica_id : tensor<ui32>
  %i = stablehlo.convert %r : (tensor<ui32>) -> tensor<i32>
  %t = stablehlo.constant dense<[5, 3]> : tensor<2xi16>
  %e = stablehlo.dynamic_slice %t, %i, sizes = [1] : (tensor<2xi16>, tensor<i32>) -> tensor<1xi16>
  check.expect_eq %s, %e : tensor<1xi16>
  return
}

func.func @all_gather() {
  %x = func.call @x() : () -> tensor<2x!q>
  %g = "stablehlo.all_gather"(%x) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!q>) -> tensor<4x!q>
  %s = stablehlo.bitcast_convert %g : (tensor<4x!q>) -> tensor<4xi8>
  check.expect_eq_const %s, dense<[4, 9, 7, 1]> : tensor<4xi8>
  return
}

// Replica 0 sends to 1. Nobody sends to 0, which has zeros: the code 3.
func.func @collective_permute() {
  %x = func.call @x() : () -> tensor<2x!q>
  %g = "stablehlo.collective_permute"(%x) {source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2x!q>) -> tensor<2x!q>
  %s = stablehlo.bitcast_convert %g : (tensor<2x!q>) -> tensor<2xi8>
  %t = stablehlo.constant dense<[[3, 3], [4, 9]]> : tensor<2x2xi8>
  %e = func.call @row(%t) : (tensor<2x2xi8>) -> tensor<2xi8>
  check.expect_eq %s, %e : tensor<2xi8>
  return
}

}
