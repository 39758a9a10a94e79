// RUN: octavo-opt %s --octavo-hoist-dots | FileCheck %s

// A scan over the rows of a stack, as JAX writes it.
// CHECK-LABEL: func.func @scan
// CHECK-SAME: (%[[X:.*]]: tensor<5x2x48xf32>, %[[W:.*]]: tensor<48x8xf32>
// CHECK: %[[ALL:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [0] : (tensor<5x2x48xf32>, tensor<48x8xf32>) -> tensor<5x2x8xf32>
// CHECK: } do {
// CHECK-NOT: dot_general %{{.*}}tensor<2x48xf32>
// CHECK: %[[PART:.*]] = stablehlo.dynamic_slice %[[ALL]], %{{.*}}, %{{.*}}, %{{.*}}, sizes = [1, 2, 8]
// CHECK-NEXT: %[[OWN:.*]] = stablehlo.reshape %[[PART]] : (tensor<1x2x8xf32>) -> tensor<2x8xf32>
// CHECK-NEXT: %[[STATE:.*]] = stablehlo.dot_general
// CHECK-NEXT: stablehlo.add %[[OWN]], %[[STATE]]
func.func @scan(%x: tensor<5x2x48xf32>, %w: tensor<48x8xf32>, %u: tensor<8x8xf32>, %h: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %r:4 = stablehlo.while(%i = %zero, %s = %h, %xs = %x, %v = %w) : tensor<i32>, tensor<2x8xf32>, tensor<5x2x48xf32>, tensor<48x8xf32>
  cond {
    %n = stablehlo.constant dense<5> : tensor<i32>
    %c = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %part = stablehlo.dynamic_slice %xs, %i, %zero, %zero, sizes = [1, 2, 48] : (tensor<5x2x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x48xf32>
    %own = stablehlo.reshape %part : (tensor<1x2x48xf32>) -> tensor<2x48xf32>
    %a = stablehlo.dot_general %own, %v, contracting_dims = [1] x [0] : (tensor<2x48xf32>, tensor<48x8xf32>) -> tensor<2x8xf32>
    %b = stablehlo.dot_general %s, %u, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
    %next = stablehlo.add %a, %b : tensor<2x8xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %j, %next, %xs, %v : tensor<i32>, tensor<2x8xf32>, tensor<5x2x48xf32>, tensor<48x8xf32>
  }
  return %r#1 : tensor<2x8xf32>
}
