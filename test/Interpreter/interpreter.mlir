// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @spellings
func.func @spellings(%a: tensor<2xf32>, %b: tensor<2xi4>) -> tensor<2xf32> {
  // CHECK: interpreter.print %arg1 : tensor<2xi4>
  interpreter.print %b : tensor<2xi4>
  // CHECK: %[[P:.*]] = interpreter.probe %arg0, probe_id = "a, \22b\22" : tensor<2xf32>
  %p = interpreter.probe %a, probe_id = "a, \22b\22" : tensor<2xf32>
  // CHECK: check.expect_serialized_eq %[[P]], probe_id = "p" : tensor<2xf32>
  check.expect_serialized_eq %p, probe_id = "p" : tensor<2xf32>
  // CHECK: check.expect_serialized_eq %[[P]], probe_id = "p", iter = 4294967295 : tensor<2xf32>
  check.expect_serialized_eq %p, probe_id = "p", iter = 4294967295 : tensor<2xf32>
  // CHECK: %[[R:.*]]:2 = "interpreter.run_parallel"(%[[P]], %arg0) <{infeed = [@feed], programs = {{\[}}[@id], [@id]]}> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %r:2 = "interpreter.run_parallel"(%p, %a) {programs = [[@id], [@id]], infeed = [@feed]} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %r#1 : tensor<2xf32>
}
func.func @id(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func @feed() -> tensor<i32> {
  %x = stablehlo.constant dense<0> : tensor<i32>
  return %x : tensor<i32>
}
