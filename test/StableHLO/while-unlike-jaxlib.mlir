// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// jaxlib prints the short form here, which it then reads as another program.

// A loop variable of another type than its initial value has no short form.
// CHECK-LABEL: func.func @open_variable
func.func @open_variable(%x: tensor<3xf32>) -> tensor<?xf32> {
  // CHECK: stablehlo.while(%arg0) ({
  // CHECK: ^bb0(%{{.*}}: tensor<?xf32>):
  // CHECK: }) {foo = 1 : i64} : (tensor<3xf32>) -> tensor<?xf32>
  %0 = "stablehlo.while"(%x) ({
  ^bb0(%a: tensor<?xf32>):
    %f = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %f : tensor<i1>
  }, {
  ^bb0(%a: tensor<?xf32>):
    stablehlo.return %a : tensor<?xf32>
  }) {foo = 1 : i64} : (tensor<3xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
