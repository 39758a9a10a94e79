// RUN: octavo-opt %s --octavo-refine-shapes=types="tensor<?x5xf32>,tensor<3x5x7xf32>,tensor<3xi64>" | FileCheck %s
// RUN: octavo-opt %s --octavo-refine-shapes=types="tensor<11x5xf32>,tensor<3x5x7xf32>,tensor<3xi64>" | FileCheck %s --check-prefix=KNOWN

// CHECK: -> tensor<?x7xf32>
// KNOWN: -> tensor<11x7xf32>
func.func @main(%lhs: tensor<?x?xf32>, %rhs: tensor<?x?x?xf32>, %sizes: tensor<?xi64>) -> tensor<?x?xf32> {
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<?x?xf32>, tensor<?x?x?xf32>, tensor<?xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
