// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func @applies
func.func @applies(%x: tensor<2x3xf32>, %s: tensor<f32>, %p: tensor<2x3xi1>, %t: tensor<i1>) {
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.reduce(%x init: %s) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.maximum across dimensions = [0, 1] {foo.bar} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reduce(%x init: %s) applies stablehlo.maximum across dimensions = [0, 1] {foo.bar} : (tensor<2x3xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.reduce(%arg2 init: %arg3) applies stablehlo.or across dimensions = [] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  %2 = stablehlo.reduce(%p init: %t) applies stablehlo.or across dimensions = [] : (tensor<2x3xi1>, tensor<i1>) -> tensor<2x3xi1>
  // CHECK: stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.multiply across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  %3 = "stablehlo.reduce"(%x, %s) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %4 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
  return
}

// CHECK-LABEL: func @reducer
func.func @reducer(%x: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<2x3xi32>, %c: tensor<i32>, %h: tensor<2x3xbf16>, %g: tensor<bf16>) {
  // CHECK:      stablehlo.reduce(%arg0 init: %arg1) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK-NEXT:  reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) {
  // CHECK-NEXT:   %[[M:.*]] = stablehlo.maximum %[[B]], %[[A]] : tensor<f32>
  // CHECK-NEXT:   stablehlo.return %[[M]] : tensor<f32>
  // CHECK-NEXT: }
  %0 = stablehlo.reduce(%x init: %s) across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
   reducer(%a: tensor<f32>, %b: tensor<f32>)  {
    %3 = stablehlo.maximum %b, %a : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }
  // CHECK:      stablehlo.reduce(%arg0 init: %arg1), (%arg2 init: %arg3) across dimensions = [0] {foo.bar} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  // CHECK-NEXT:  reducer(%[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>) (%[[C:.*]]: tensor<i32>, %[[D:.*]]: tensor<i32>) {
  // CHECK-NEXT:   stablehlo.compare GT, %[[A]], %[[B]], FLOAT
  // CHECK-NEXT:   stablehlo.select %{{.*}}, %[[A]], %[[B]] : tensor<i1>, tensor<f32>
  // CHECK-NEXT:   stablehlo.select %{{.*}}, %[[C]], %[[D]] : tensor<i1>, tensor<i32>
  // CHECK-NEXT:   stablehlo.return %{{.*}}, %{{.*}} : tensor<f32>, tensor<i32>
  %1:2 = "stablehlo.reduce"(%x, %i, %s, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %n: tensor<i32>, %b: tensor<f32>, %m: tensor<i32>):
    %3 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.select %3, %a, %b : tensor<i1>, tensor<f32>
    %5 = stablehlo.select %3, %n, %m : tensor<i1>, tensor<i32>
    stablehlo.return %4, %5 : tensor<f32>, tensor<i32>
  }) {foo.bar} : (tensor<2x3xf32>, tensor<2x3xi32>, tensor<f32>, tensor<i32>) -> (tensor<3xf32>, tensor<3xi32>)
  // A body that sums bf16 in f32: the result is f32 too, and `applies` cannot say so.
  // CHECK:      stablehlo.reduce(%arg4 init: %arg5) across dimensions = [1] : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xf32>
  // CHECK-NEXT:  reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) {
  // CHECK-NEXT:   stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
  %2 = "stablehlo.reduce"(%h, %g) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<2x3xbf16>, tensor<bf16>) -> tensor<2xf32>
  return
}
