// RUN: octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3x7xf32>,tensor<i32>})" | FileCheck %s
// A slice that begins where a clamp has it be within the operand, as JAX writes dynamic_slice where an
// extent is symbolic, is one of known extents. What clamps to other bounds is left as it is.

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<3x7xf32>, %[[I:.*]]: tensor<i32>)
func.func @main(%x: tensor<?x7xf32>, %i: tensor<i32>) -> (tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<1xi32>
  %c5 = stablehlo.constant dense<5> : tensor<1xi32>
  %c7 = stablehlo.constant dense<7> : tensor<1xi32>
  %none = stablehlo.constant dense<0> : tensor<2xi32>
  %ones = stablehlo.constant dense<1> : tensor<2xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x7xf32>) -> tensor<i32>
  %rows = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %rows, %c7, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %sizes = stablehlo.concatenate %rows, %c5, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %most = stablehlo.subtract %shape, %sizes : tensor<2xi32>
  %from = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
  %given = stablehlo.concatenate %c0, %from, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %start = stablehlo.clamp %none, %given, %most : tensor<2xi32>
  %limit = stablehlo.add %start, %sizes : tensor<2xi32>
  // CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %[[SLICE:.*]] = stablehlo.dynamic_slice %[[X]], %[[ZERO]], %[[I]], sizes = [3, 5]
  %slice = stablehlo.real_dynamic_slice %x, %start, %limit, %ones : (tensor<?x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x5xf32>

  // A list that is no concatenation, and the sum the other way round.
  %list = stablehlo.broadcast_in_dim %i, dims = [] : (tensor<i32>) -> tensor<2xi32>
  %start1 = stablehlo.clamp %none, %list, %most : tensor<2xi32>
  %limit1 = stablehlo.add %sizes, %start1 : tensor<2xi32>
  // CHECK-DAG: %[[SECOND:.*]] = stablehlo.slice %[[LIST:.*]] [1:2]
  // CHECK-DAG: %[[SECOND_INDEX:.*]] = stablehlo.reshape %[[SECOND]] : (tensor<1xi32>) -> tensor<i32>
  // CHECK: stablehlo.dynamic_slice %[[X]], %{{.*}}, %[[SECOND_INDEX]], sizes = [3, 5]
  %slice1 = stablehlo.real_dynamic_slice %x, %start1, %limit1, %ones : (tensor<?x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x5xf32>

  // CHECK-COUNT-3: stablehlo.real_dynamic_slice
  // dynamic_slice would begin one farther on.
  %less = stablehlo.subtract %most, %ones : tensor<2xi32>
  %start2 = stablehlo.clamp %none, %given, %less : tensor<2xi32>
  %limit2 = stablehlo.add %start2, %sizes : tensor<2xi32>
  %slice2 = stablehlo.real_dynamic_slice %x, %start2, %limit2, %ones : (tensor<?x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  // It would begin at 0.
  %start3 = stablehlo.clamp %ones, %given, %most : tensor<2xi32>
  %limit3 = stablehlo.add %start3, %sizes : tensor<2xi32>
  %slice3 = stablehlo.real_dynamic_slice %x, %start3, %limit3, %ones : (tensor<?x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  // It has no strides.
  %strides = stablehlo.add %ones, %ones : tensor<2xi32>
  %slice4 = stablehlo.real_dynamic_slice %x, %start, %limit, %strides : (tensor<?x7xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %slice, %slice1, %slice2, %slice3, %slice4 : tensor<?x5xf32>, tensor<?x5xf32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
