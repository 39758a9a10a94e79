// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | FileCheck %s

#rows = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>

// Of a number of rows that is open, those of no group are zeros, too.
// CHECK-LABEL: func.func @open_rows
// CHECK: %[[ROW:.*]] = stablehlo.dynamic_iota %{{.*}}, dim = 0 : (tensor<2xi32>) -> tensor<?x64xi32>
// CHECK: %[[KEPT:.*]] = stablehlo.compare LT, %[[ROW]], %{{.*}}, SIGNED
// CHECK: %[[ROWS:.*]] = stablehlo.select %[[KEPT]], %arg0, %{{.*}} : tensor<?x64xi1>, tensor<?x64xf32>
// CHECK: octavo.quantize %[[ROWS]]
func.func @open_rows(%x: tensor<?x64xf32>, %w: tensor<3x64x8xf32> {octavo.parameter}, %sizes: tensor<3xi32>) -> tensor<?x8xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #rows}> : (tensor<?x64xf32>, tensor<3x64x8xf32>, tensor<3xi32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
