// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s
// RUN: octavo-opt %s -octavo-inline-fused-dots | FileCheck %s --check-prefix=INLINE

!x = !octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!w = !octavo.scaled<3x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>

// CHECK-LABEL: func.func @scaled
// CHECK-NEXT: %[[R:.*]]:2 = octavo.fused_dot %arg0, %arg1, %arg2 : (!octavo.scaled<2x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, !octavo.scaled<3x32xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xbf16>) {
// CHECK-NEXT: ^bb0(%[[A:.*]]: !octavo.scaled<2x32{{.*}}>, %[[B:.*]]: !octavo.scaled<3x32{{.*}}>, %[[C:.*]]: tensor<2x3xf32>):
// CHECK-NEXT: %[[P:.*]] = octavo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [1]
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[P]], %[[C]]
// CHECK-NEXT: %[[T:.*]] = stablehlo.convert %[[S]]
// CHECK-NEXT: octavo.yield %[[S]], %[[T]] : tensor<2x3xf32>, tensor<2x3xbf16>
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
// INLINE-LABEL: func.func @scaled
// INLINE-NEXT: %[[P:.*]] = octavo.dot_general %arg0, %arg1
// INLINE-NEXT: %[[S:.*]] = stablehlo.add %[[P]], %arg2
// INLINE-NEXT: %[[T:.*]] = stablehlo.convert %[[S]]
// INLINE-NEXT: return %[[S]], %[[T]]
func.func @scaled(%x: !x, %w: !w, %bias: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xbf16>) {
  %r:2 = octavo.fused_dot %x, %w, %bias : (!x, !w, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xbf16>) {
  ^bb0(%a: !x, %b: !w, %c: tensor<2x3xf32>):
    %p = octavo.dot_general %a, %b, contracting_dims = [1] x [1] : (!x, !w) -> tensor<2x3xf32>
    %s = stablehlo.add %p, %c : tensor<2x3xf32>
    %t = stablehlo.convert %s : (tensor<2x3xf32>) -> tensor<2x3xbf16>
    octavo.yield %s, %t : tensor<2x3xf32>, tensor<2x3xbf16>
  }
  return %r#0, %r#1 : tensor<2x3xf32>, tensor<2x3xbf16>
}

// CHECK-LABEL: func.func @narrow
// CHECK: octavo.fused_dot %arg0, %arg1
// CHECK: stablehlo.dot_general
func.func @narrow(%x: tensor<2x4xf8E5M2>, %w: tensor<4x3xf8E4M3>) -> tensor<2x3xf32> {
  %r = octavo.fused_dot %x, %w : (tensor<2x4xf8E5M2>, tensor<4x3xf8E4M3>) -> tensor<2x3xf32> {
  ^bb0(%a: tensor<2x4xf8E5M2>, %b: tensor<4x3xf8E4M3>):
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<2x4xf8E5M2>, tensor<4x3xf8E4M3>) -> tensor<2x3xf32>
    octavo.yield %p : tensor<2x3xf32>
  }
  return %r : tensor<2x3xf32>
}
