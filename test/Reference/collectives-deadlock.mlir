// RUN: split-file %s %t
// RUN: not octavo run %t/order.mlir --backend reference 2>&1 | FileCheck %s --check-prefix ORDER
// RUN: not octavo run %t/groups.mlir --backend reference 2>&1 | FileCheck %s --check-prefix GROUPS
// RUN: not octavo run %t/failure.mlir --backend reference 2>&1 | FileCheck %s --check-prefix FAILURE
// Processes that wait for ever, that fail, or that do not have what the program asks for.

//--- order.mlir
// ORDER: deadlock: every process waits for another, or has finished
// ORDER-NEXT: process (replica 0, partition 0) waits at {{.*}}order.mlir:[[#]]:[[#]]: 'stablehlo.collective_broadcast'
// ORDER-NEXT: process (replica 1, partition 0) waits at {{.*}}order.mlir:[[#]]:[[#]]: 'stablehlo.cross-replica-sum'
module attributes {mhlo.num_replicas = 2 : i32} {
func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r = stablehlo.replica_id : tensor<ui32>
  %z = stablehlo.constant dense<0> : tensor<ui32>
  %first = stablehlo.compare EQ, %r, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %y = "stablehlo.if"(%first) ({
    %0 = "stablehlo.collective_broadcast"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.cross-replica-sum"(%0) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }, {
    %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = "stablehlo.collective_broadcast"(%0) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %1 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  check.expect_eq %y, %y : tensor<2xf32>
  return
}
}

//--- groups.mlir
// GROUPS: 'stablehlo.cross-replica-sum': replica_groups does not fit the grid of 2 replicas
module attributes {mhlo.num_replicas = 2 : i32} {
func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %y = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>} : (tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq %y, %y : tensor<2xf32>
  return
}
}

//--- failure.mlir
// FAILURE: process (replica 0, partition 0): {{.*}}'stablehlo.infeed': nothing is left for it to take
module attributes {mhlo.num_replicas = 2 : i32} {
func.func @main() {
  %x = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r = stablehlo.replica_id : tensor<ui32>
  %z = stablehlo.constant dense<0> : tensor<ui32>
  %first = stablehlo.compare EQ, %r, %z : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
  %y = "stablehlo.if"(%first) ({
    %t = stablehlo.create_token : !stablehlo.token
    %0:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
    stablehlo.return %0#0 : tensor<2xf32>
  }, {
    %0 = "stablehlo.cross-replica-sum"(%x) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<2xf32>
    stablehlo.return %0 : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  check.expect_eq %y, %y : tensor<2xf32>
  return
}
}
