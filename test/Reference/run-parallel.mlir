// RUN: split-file %s %t
// RUN: octavo run %t/checks.mlir --backend reference
// RUN: octavo run %t/checks.mlir --backend compiled
// RUN: not octavo run %t/deadlock.mlir --backend reference 2>&1 | FileCheck %s --check-prefix DEADLOCK
// RUN: not octavo run %t/infeed.mlir --backend reference 2>&1 | FileCheck %s --check-prefix INFEED
// A program that runs others as the processes of a grid.

//--- checks.mlir
// Each process adds the other's operand to what it takes from the queue that they share; both
// functions of a row are partitions.
func.func @left(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<ui32>) {
  %s = func.call @sum(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %p = stablehlo.partition_id : tensor<ui32>
  return %s, %p : tensor<2xi32>, tensor<ui32>
}
func.func @right(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<ui32>) {
  %s = func.call @sum(%x) : (tensor<2xi32>) -> tensor<2xi32>
  %r = stablehlo.replica_id : tensor<ui32>
  return %s, %r : tensor<2xi32>, tensor<ui32>
}
func.func private @sum(%x: tensor<2xi32>) -> tensor<2xi32> {
  %s = "stablehlo.all_reduce"(%x) ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids} : (tensor<2xi32>) -> tensor<2xi32>
  return %s : tensor<2xi32>
}
func.func @partitions() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %r:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@left, @right]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<ui32>, tensor<2xi32>, tensor<ui32>)
  check.expect_eq_const %r#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %r#1, dense<0> : tensor<ui32>
  check.expect_eq_const %r#2, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %r#3, dense<0> : tensor<ui32>
  return
}
func.func @replicas() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %r:4 = "interpreter.run_parallel"(%a, %b) {programs = [[@left], [@right]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<ui32>, tensor<2xi32>, tensor<ui32>)
  check.expect_eq_const %r#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %r#1, dense<0> : tensor<ui32>
  check.expect_eq_const %r#3, dense<1> : tensor<ui32>
  return
}
func.func @feed_one() -> tensor<i32> {
  %x = stablehlo.constant dense<1> : tensor<i32>
  return %x : tensor<i32>
}
func.func @feed_two() -> tensor<i32> {
  %x = stablehlo.constant dense<2> : tensor<i32>
  return %x : tensor<i32>
}
func.func @eat() -> (tensor<i32>, tensor<i32>) {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %u = "stablehlo.outfeed"(%b#0, %b#1) : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  return %a#0, %b#0 : tensor<i32>, tensor<i32>
}
func.func @infeed() {
  %r:2 = "interpreter.run_parallel"() {programs = [[@eat]], infeed = [@feed_one, @feed_two]} : () -> (tensor<i32>, tensor<i32>)
  check.expect_eq_const %r#0, dense<1> : tensor<i32>
  check.expect_eq_const %r#1, dense<2> : tensor<i32>
  return
}
func.func @send() {
  %x = stablehlo.constant dense<7> : tensor<i32>
  %t = stablehlo.create_token : !stablehlo.token
  %s = "stablehlo.send"(%x, %t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>} : (tensor<i32>, !stablehlo.token) -> !stablehlo.token
  return
}
func.func @receive() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return %r#0 : tensor<i32>
}
func.func @one_sends_to_the_other() {
  %r = "interpreter.run_parallel"() {programs = [[@receive, @send]]} : () -> tensor<i32>
  check.expect_eq_const %r, dense<7> : tensor<i32>
  return
}

//--- deadlock.mlir
// DEADLOCK: deadlock: every process waits for another, or has finished
// DEADLOCK-NEXT: process (replica 0, partition 0) waits at {{.*}}deadlock.mlir:[[#]]:[[#]]: 'stablehlo.recv'
// DEADLOCK-NEXT: process (replica 0, partition 1) has finished
func.func @receive() -> tensor<i32> {
  %t = stablehlo.create_token : !stablehlo.token
  %r:2 = "stablehlo.recv"(%t) {channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>} : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return %r#0 : tensor<i32>
}
func.func @nothing() { return }
func.func @main() {
  %r = "interpreter.run_parallel"() {programs = [[@receive, @nothing]]} : () -> tensor<i32>
  check.expect_eq %r, %r : tensor<i32>
  return
}

//--- infeed.mlir
// INFEED: process (replica 1, partition 0): {{.*}}infeed.mlir:[[#]]:[[#]]: 'stablehlo.infeed': nothing is left for it to take
func.func @feed() -> tensor<i32> {
  %x = stablehlo.constant dense<1> : tensor<i32>
  return %x : tensor<i32>
}
func.func @nothing() { return }
func.func @eat_twice() {
  %t = stablehlo.create_token : !stablehlo.token
  %a:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  %b:2 = "stablehlo.infeed"(%a#1) : (!stablehlo.token) -> (tensor<i32>, !stablehlo.token)
  return
}
func.func @main() {
  %x = stablehlo.constant dense<1> : tensor<i32>
  "interpreter.run_parallel"() {programs = [[@nothing], [@eat_twice]], infeed = [@feed]} : () -> ()
  check.expect_eq %x, %x : tensor<i32>
  return
}
