// RUN: octavo-opt %s --octavo-simplify-converts -split-input-file | FileCheck %s
// RUN: octavo-opt %s --octavo-simplify-converts=excess-precision=true -split-input-file 2>&1 | FileCheck %s --check-prefix=EXCESS
// RUN: octavo-opt %s --octavo-simplify-converts=reduce-precision=converts -split-input-file | FileCheck %s --check-prefix=CONVERTS
// RUN: octavo-opt %s --octavo-simplify-converts=reduce-precision=operation -split-input-file | FileCheck %s --check-prefix=OPERATION
// RUN: not octavo-opt %s --octavo-simplify-converts=reduce-precision=both -split-input-file 2>&1 | FileCheck %s --check-prefix=ERROR

// ERROR: reduce-precision is converts or operation; found 'both'

// f32 holds every value of bf16 and of f8E4M3FN; a chain of four converts becomes one.
// CHECK-LABEL: func.func @chains
// CHECK-SAME: (%[[A:.*]]: tensor<4xbf16>, %[[B:.*]]: tensor<4xf8E4M3FN>)
func.func @chains(%a: tensor<4xbf16>, %b: tensor<4xf8E4M3FN>) -> (tensor<4xbf16>, tensor<4xf8E5M2>) {
  %0 = stablehlo.convert %a : (tensor<4xbf16>) -> tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[B]] : (tensor<4xf8E4M3FN>) -> tensor<4xf8E5M2>
  %2 = stablehlo.convert %b : (tensor<4xf8E4M3FN>) -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf32>
  %4 = stablehlo.convert %3 : (tensor<4xf32>) -> tensor<4xf64>
  %5 = stablehlo.convert %4 : (tensor<4xf64>) -> tensor<4xf8E5M2>
  // CHECK-NEXT: return %[[A]], %[[C]]
  return %1, %5 : tensor<4xbf16>, tensor<4xf8E5M2>
}

// A value in the middle that something else reads stays for that.
// CHECK-LABEL: func.func @shared
func.func @shared(%a: tensor<4xf16>) -> (tensor<4xf16>, tensor<4xf32>) {
  // CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg0 : (tensor<4xf16>) -> tensor<4xf32>
  // CHECK-NEXT: return %arg0, %[[W]]
  %0 = stablehlo.convert %a : (tensor<4xf16>) -> tensor<4xf32>
  %1 = stablehlo.convert %0 : (tensor<4xf32>) -> tensor<4xf16>
  return %1, %0 : tensor<4xf16>, tensor<4xf32>
}

// -----

// What changes a value: a fake quantization, two roundings, a range, the sign of a zero; and
// integers, which are no floats.
// CHECK-LABEL: func.func @kept
// EXCESS: remark: left out a convert from f32 to f8E4M3FN before one to f32: values change
// EXCESS: remark: left out a convert from f32 to bf16 before one to f8E5M2: values change
// EXCESS: remark: left out a convert from bf16 to f16 before one to f32: values change
// EXCESS: remark: left out a convert from f4E2M1FN to f8E4M3FNUZ before one to f32: values change
// EXCESS-LABEL: func.func @kept
func.func @kept(%a: tensor<4xf32>, %b: tensor<4xbf16>, %c: tensor<4xf4E2M1FN>)
    -> (tensor<4xf32>, tensor<4xf8E5M2>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  // CHECK-COUNT-10: stablehlo.convert
  // EXCESS-NEXT: %[[N:.*]] = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xf8E5M2>
  // EXCESS-NEXT: stablehlo.convert %arg1 : (tensor<4xbf16>) -> tensor<4xf32>
  // EXCESS-NEXT: stablehlo.convert %arg2 : (tensor<4xf4E2M1FN>) -> tensor<4xf32>
  // EXCESS-NEXT: stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
  // EXCESS-NEXT: stablehlo.convert {{.*}} : (tensor<4xi32>) -> tensor<4xf32>
  // EXCESS-NEXT: return %arg0, %[[N]]
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf8E4M3FN>
  %1 = stablehlo.convert %0 : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
  %2 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %3 = stablehlo.convert %2 : (tensor<4xbf16>) -> tensor<4xf8E5M2>
  %4 = stablehlo.convert %b : (tensor<4xbf16>) -> tensor<4xf16>
  %5 = stablehlo.convert %4 : (tensor<4xf16>) -> tensor<4xf32>
  %6 = stablehlo.convert %c : (tensor<4xf4E2M1FN>) -> tensor<4xf8E4M3FNUZ>
  %7 = stablehlo.convert %6 : (tensor<4xf8E4M3FNUZ>) -> tensor<4xf32>
  %8 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi32>
  %9 = stablehlo.convert %8 : (tensor<4xi32>) -> tensor<4xf32>
  return %1, %3, %5, %7, %9 : tensor<4xf32>, tensor<4xf8E5M2>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// e8m7 of f32 is bf16, e5m10 is f16 but for its subnormals, e5m2 of f16 is f8E5M2.
// CHECK-LABEL: func.func @reduce
// CONVERTS-LABEL: func.func @reduce
func.func @reduce(%a: tensor<4xf32>, %b: tensor<4xf16>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf32>) {
  // CHECK: reduce_precision %arg0, format = e8m7
  // CHECK: reduce_precision %arg0, format = e5m10
  // CHECK: reduce_precision %arg1, format = e5m2
  // CHECK-NOT: reduce_precision
  // CONVERTS-NEXT: %[[B:.*]] = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
  // CONVERTS-NEXT: %[[R:.*]] = stablehlo.convert %[[B]] : (tensor<4xbf16>) -> tensor<4xf32>
  // CONVERTS-NEXT: %[[S:.*]] = stablehlo.reduce_precision %arg0, format = e5m10
  // CONVERTS-NEXT: %[[E:.*]] = stablehlo.convert %arg1 : (tensor<4xf16>) -> tensor<4xf8E5M2>
  // CONVERTS-NEXT: %[[T:.*]] = stablehlo.convert %[[E]] : (tensor<4xf8E5M2>) -> tensor<4xf16>
  // CONVERTS-NEXT: return %[[R]], %[[S]], %[[T]], %arg0
  %0 = stablehlo.reduce_precision %a, format = e8m7 : tensor<4xf32>
  %1 = stablehlo.reduce_precision %a, format = e5m10 : tensor<4xf32>
  %2 = stablehlo.reduce_precision %b, format = e5m2 : tensor<4xf16>
  %3 = stablehlo.reduce_precision %a, format = e8m23 : tensor<4xf32>
  return %0, %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf16>, tensor<4xf32>
}

// OPERATION-LABEL: func.func @recover
func.func @recover(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // OPERATION-NEXT: stablehlo.reduce_precision %arg0, format = e8m7
  // OPERATION-NEXT: stablehlo.convert {{.*}} -> tensor<4xf16>
  // OPERATION-NEXT: stablehlo.convert {{.*}} -> tensor<4xf32>
  // OPERATION-NEXT: return
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = stablehlo.convert %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xf16>
  %3 = stablehlo.convert %2 : (tensor<4xf16>) -> tensor<4xf32>
  return %1, %3 : tensor<4xf32>, tensor<4xf32>
}

// -----

// 448 is no power of two, 2^-17 no value of f16 as an inverse; integers divide otherwise.
// CHECK-LABEL: func.func @divisions
func.func @divisions(%a: tensor<2xf32>, %b: tensor<2xf16>, %c: tensor<2xi32>)
    -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf16>, tensor<2xi32>) {
  // CHECK-DAG: %[[E:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<f32>
  // CHECK-DAG: %[[V:.*]] = stablehlo.constant dense<[-5.000000e-01, 4.000000e+00]> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = stablehlo.broadcast_in_dim %[[E]], dims = []
  // CHECK-DAG: stablehlo.multiply %arg0, %[[W]] : tensor<2xf32>
  // CHECK-DAG: stablehlo.multiply %arg0, %[[V]] : tensor<2xf32>
  // CHECK: stablehlo.divide %arg0, {{.*}} : tensor<2xf32>
  // CHECK: stablehlo.divide %arg1, {{.*}} : tensor<2xf16>
  // CHECK: stablehlo.divide %arg2, {{.*}} : tensor<2xi32>
  %eight = stablehlo.constant dense<8.0> : tensor<f32>
  %eights = stablehlo.broadcast_in_dim %eight, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %0 = stablehlo.divide %a, %eights : tensor<2xf32>
  %powers = stablehlo.constant dense<[-2.0, 0.25]> : tensor<2xf32>
  %1 = stablehlo.divide %a, %powers : tensor<2xf32>
  %most = stablehlo.constant dense<448.0> : tensor<2xf32>
  %2 = stablehlo.divide %a, %most : tensor<2xf32>
  %small = stablehlo.constant dense<7.62939453125e-06> : tensor<2xf16>
  %3 = stablehlo.divide %b, %small : tensor<2xf16>
  %two = stablehlo.constant dense<2> : tensor<2xi32>
  %4 = stablehlo.divide %c, %two : tensor<2xi32>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf16>, tensor<2xi32>
}
