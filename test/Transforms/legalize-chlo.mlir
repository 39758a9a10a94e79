// RUN: octavo-opt %s --octavo-legalize-chlo | FileCheck %s
// Which operations are written; test/python/test_legalize_chlo.py has what they compute.

// What is narrower than f32 is computed in f32, and rounded once.
// CHECK-LABEL: func.func @narrow
// CHECK-NEXT: %[[WIDE:.*]] = stablehlo.convert %arg0 : (tensor<2xbf16>) -> tensor<2xf32>
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[ANGLE:.*]] = stablehlo.atan2 %[[WIDE]], %[[ONE]] : tensor<2xf32>
// CHECK-NEXT: %[[RESULT:.*]] = stablehlo.convert %[[ANGLE]] : (tensor<2xf32>) -> tensor<2xbf16>
// CHECK-NEXT: return %[[RESULT]]
func.func @narrow(%x: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = chlo.atan %x : tensor<2xbf16> -> tensor<2xbf16>
  return %0 : tensor<2xbf16>
}

// A constant of an open extent takes the shape of the operand, which is computed once.
// CHECK-LABEL: func.func @open
// CHECK: stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: stablehlo.dynamic_broadcast_in_dim
// CHECK-NOT: stablehlo.get_dimension_size
// CHECK: return
func.func @open(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = chlo.acosh %x : tensor<?x3xf32> -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// Nothing is broadcast that has the shape already.
// CHECK-LABEL: func.func @whole
// CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<2x3xf32>
// CHECK-NEXT: %[[ROW:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK-NEXT: stablehlo.add %arg0, %[[ROW]] : tensor<2x3xf32>
// CHECK-NEXT: return
func.func @whole(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = chlo.broadcast_add %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = chlo.broadcast_add %x, %y : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// Bounds are kept.
// CHECK-LABEL: func.func @bounded
// CHECK: stablehlo.atan2 {{.*}} : tensor<?xf32, #stablehlo.bounds<4>>
func.func @bounded(%x: tensor<?xf32, #stablehlo.bounds<4>>) -> tensor<?xf32, #stablehlo.bounds<4>> {
  %0 = chlo.atan %x : tensor<?xf32, #stablehlo.bounds<4>> -> tensor<?xf32, #stablehlo.bounds<4>>
  return %0 : tensor<?xf32, #stablehlo.bounds<4>>
}

// In regions too.
// CHECK-LABEL: func.func @region
// CHECK: stablehlo.map
// CHECK-NOT: chlo
// CHECK: stablehlo.return
func.func @region(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.map"(%x) ({
  ^bb0(%a: tensor<f32>):
    %1 = chlo.square %a : tensor<f32> -> tensor<f32>
    "stablehlo.return"(%1) : (tensor<f32>) -> ()
  }) {dimensions = array<i64: 0>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
