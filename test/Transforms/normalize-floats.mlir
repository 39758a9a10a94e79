// RUN: octavo-opt %s --octavo-normalize-floats=target=xla-cpu -split-input-file 2>%t.remarks | FileCheck %s --check-prefixes=CHECK,CPU
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks
// RUN: octavo-opt %s --octavo-normalize-floats=target=xla-gpu-sm89 -split-input-file 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU
// RUN: not octavo-opt %s --octavo-normalize-floats=target=f32-only -split-input-file 2>&1 | FileCheck %s --check-prefix=ONLY
// RUN: not octavo-opt %s --octavo-normalize-floats=target=tpu -split-input-file 2>&1 | FileCheck %s --check-prefix=ERROR

// REMARK: remark: left in f8E5M2, which xla-cpu does not compute in

// ERROR: no target 'tpu'; available: xla-cpu xla-gpu-sm89 f32-only bf16

// Data movement, select and convert keep the narrow type; one add is computed in f32.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: (%[[A:.*]]: tensor<2x3xf8E4M3FN>, %[[B:.*]]: tensor<3x2xf8E4M3FN>, %[[P:.*]]: tensor<2x3xi1>)
func.func @elementwise(%a: tensor<2x3xf8E4M3FN>, %b: tensor<3x2xf8E4M3FN>, %p: tensor<2x3xi1>) -> (tensor<2x3xf8E4M3FN>, tensor<2x3xi1>, tensor<2x3xbf16>) {
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[B]]
  // CHECK-NEXT: %[[X:.*]] = stablehlo.convert %[[A]] : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.convert %[[T]] : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.add %[[X]], %[[Y]] : tensor<2x3xf32>
  // CHECK-NEXT: %[[N:.*]] = stablehlo.convert %[[S]] : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FN>
  // CHECK-NEXT: %[[R:.*]] = stablehlo.select %[[P]], %[[N]], %[[A]]
  // CHECK-NEXT: %[[V:.*]] = stablehlo.convert %[[R]] : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.compare LT, %[[V]], %[[V]]
  // CHECK-NEXT: %[[H:.*]] = stablehlo.convert %[[R]] : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xbf16>
  // GPU-NEXT: stablehlo.negate %[[H]] : tensor<2x3xbf16>
  // CPU-NEXT: stablehlo.convert %[[H]] : (tensor<2x3xbf16>) -> tensor<2x3xf32>
  // CPU-NEXT: stablehlo.negate {{.*}} : tensor<2x3xf32>
  // CPU-NEXT: stablehlo.convert {{.*}} : (tensor<2x3xf32>) -> tensor<2x3xbf16>
  // CHECK-NEXT: return
  %t = stablehlo.transpose %b, dims = [1, 0] : (tensor<3x2xf8E4M3FN>) -> tensor<2x3xf8E4M3FN>
  %s = stablehlo.add %a, %t : tensor<2x3xf8E4M3FN>
  %r = stablehlo.select %p, %s, %a : tensor<2x3xi1>, tensor<2x3xf8E4M3FN>
  %c = stablehlo.compare LT, %r, %r : (tensor<2x3xf8E4M3FN>, tensor<2x3xf8E4M3FN>) -> tensor<2x3xi1>
  %h = stablehlo.convert %r : (tensor<2x3xf8E4M3FN>) -> tensor<2x3xbf16>
  %n = stablehlo.negate %h : tensor<2x3xbf16>
  return %r, %c, %n : tensor<2x3xf8E4M3FN>, tensor<2x3xi1>, tensor<2x3xbf16>
}

// -----

// The GPU multiplies f8E4M3FN by f8E5M2, not f8E5M2 by itself; no target here has f8E3M4.
// CHECK-LABEL: func.func @dots
func.func @dots(%a: tensor<4x8xf8E4M3FN>, %b: tensor<8x4xf8E5M2>, %c: tensor<4x8xf8E5M2>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf8E3M4>) {
  // GPU-NEXT: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E5M2>) -> tensor<4x4xf32>
  // GPU-NEXT: stablehlo.convert %arg2 : (tensor<4x8xf8E5M2>) -> tensor<4x8xf32>
  // GPU-NEXT: stablehlo.convert %arg1 : (tensor<8x4xf8E5M2>) -> tensor<8x4xf32>
  // GPU-NEXT: stablehlo.dot_general {{.*}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // GPU-NEXT: stablehlo.dot_general %arg0, %arg1, {{.*}} : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E5M2>) -> tensor<4x4xf32>
  // CPU-COUNT-3: stablehlo.dot_general {{.*}} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: stablehlo.convert {{.*}} -> tensor<4x4xf8E3M4>
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E5M2>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %c, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E5M2>, tensor<8x4xf8E5M2>) -> tensor<4x4xf32>
  %2 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x8xf8E4M3FN>, tensor<8x4xf8E5M2>) -> tensor<4x4xf8E3M4>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf8E3M4>
}

// -----

// A sum runs in f32 (rule I10), so its body becomes one of f32; another body rounds at each step,
// so its operations are computed in f32 one by one. reduce_precision keeps its type, with a remark.
// CHECK-LABEL: func.func @reductions
func.func @reductions(%a: tensor<8xf8E5M2>, %z: tensor<f8E5M2>) -> (tensor<f8E5M2>, tensor<f8E5M2>, tensor<8xf8E5M2>) {
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  // CHECK-NEXT: stablehlo.convert {{.*}} : (tensor<f32>) -> tensor<f8E5M2>
  // CHECK: stablehlo.reduce({{.*}}) across dimensions = [0] : (tensor<8xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  // CHECK: stablehlo.multiply {{.*}} : tensor<f32>
  // CHECK-NEXT: stablehlo.convert {{.*}} : (tensor<f32>) -> tensor<f8E5M2>
  // CHECK: stablehlo.add {{.*}} : tensor<f32>
  // CHECK-NEXT: stablehlo.convert {{.*}} : (tensor<f32>) -> tensor<f8E5M2>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  %1 = stablehlo.reduce(%a init: %z) across dimensions = [0] : (tensor<8xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
    reducer(%s: tensor<f8E5M2>, %e: tensor<f8E5M2>) {
      %p = stablehlo.multiply %e, %e : tensor<f8E5M2>
      %n = stablehlo.add %s, %p : tensor<f8E5M2>
      stablehlo.return %n : tensor<f8E5M2>
    }
  // CHECK: stablehlo.reduce_precision {{.*}} : tensor<8xf8E5M2>
  %2 = stablehlo.reduce_precision %a, format = e5m1 : tensor<8xf8E5M2>
  return %0, %1, %2 : tensor<f8E5M2>, tensor<f8E5M2>, tensor<8xf8E5M2>
}

// -----

// Products of f8E8M0FNU leave f32's range and not their own: f64, or an error.
// ONLY: error: f32-only does not compute in f8E8M0FNU, nor in a type that gives the same values
// CHECK-LABEL: func.func @scales
func.func @scales(%a: tensor<4xf8E8M0FNU>) -> tensor<4xf8E8M0FNU> {
  // CHECK-NEXT: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<4xf8E8M0FNU>) -> tensor<4xf64>
  // CHECK-NEXT: stablehlo.multiply %[[X]], %[[X]] : tensor<4xf64>
  %0 = stablehlo.multiply %a, %a : tensor<4xf8E8M0FNU>
  return %0 : tensor<4xf8E8M0FNU>
}
