// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | octavo-opt --octavo-emit | FileCheck %s --check-prefix=EMITTED

#rows = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
#sums = #chlo.ragged_dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0]>

// The matrices of all groups are one weight; rows take what they have of their own group.
// CHECK-LABEL: func.func @experts
// CHECK-SAME: %arg1: !octavo.scaled<3x64x8xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>
// Rows of no group are zeros: what they have is not to be refused, nor to count for a scale.
// CHECK: %[[LONG:.*]] = stablehlo.convert %arg2 : (tensor<3xi32>) -> tensor<3xi64>
// CHECK: %[[SIZES:.*]] = stablehlo.minimum %[[LONG]], %{{.*}} : tensor<3xi64>
// CHECK: %[[END:.*]] = stablehlo.reduce(%[[SIZES]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: %[[FITS:.*]] = stablehlo.minimum %[[END]], %{{.*}} : tensor<i64>
// CHECK: %[[LAST:.*]] = stablehlo.convert %[[FITS]] : (tensor<i64>) -> tensor<i32>
// CHECK: %[[ROW:.*]] = stablehlo.iota dim = 0 : tensor<6x64xi32>
// CHECK: %[[ENDS:.*]] = stablehlo.broadcast_in_dim %[[LAST]], dims = [] : (tensor<i32>) -> tensor<6x64xi32>
// CHECK: %[[KEPT:.*]] = stablehlo.compare LT, %[[ROW]], %[[ENDS]], SIGNED
// CHECK: %[[ROWS:.*]] = stablehlo.select %[[KEPT]], %arg0, %{{.*}} : tensor<6x64xi1>, tensor<6x64xf32>
// CHECK: %[[X:.*]] = octavo.quantize %[[ROWS]], rule = floor : tensor<6x64xf32> -> !octavo.scaled<6x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// CHECK: %[[ALL:.*]] = octavo.dot_general %[[X]], %arg1, contracting_dims = [1] x [1] : {{.*}} -> tensor<6x3x8xf32>
// CHECK: %[[Y:.*]] = octavo.rows_of_groups %[[ALL]], %arg2 : (tensor<6x3x8xf32>, tensor<3xi32>) -> tensor<6x8xf32>
// CHECK: return %[[Y]]
// Written for others, a row is selected from what it has of each group.
// EMITTED-LABEL: func.func @experts
// EMITTED: %[[ALL:.*]] = stablehlo.dot_general {{.*}} -> tensor<6x3x8xf32>
// EMITTED: stablehlo.slice %[[ALL]] [0:6, 2:3, 0:8]
// EMITTED: %[[Y:.*]] = stablehlo.select
// EMITTED-NEXT: return %[[Y]]
func.func @experts(%x: tensor<6x64xf32>, %w: tensor<3x64x8xf32> {octavo.parameter}, %sizes: tensor<3xi32>) -> tensor<6x8xf32> {
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #rows}> : (tensor<6x64xf32>, tensor<3x64x8xf32>, tensor<3xi32>) -> tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// Those of two activations, and sums over the rows of groups, stay.
// CHECK-LABEL: func.func @left
// CHECK-NEXT: %[[Y:.*]] = "chlo.ragged_dot"(%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[Z:.*]] = "chlo.ragged_dot"(%arg0, %arg3, %arg2)
// CHECK-NEXT: return %[[Y]], %[[Z]]
func.func @left(%x: tensor<6x64xf32>, %w: tensor<3x64x8xf32>, %sizes: tensor<3xi32>, %z: tensor<6x8xf32> {octavo.parameter}) -> (tensor<6x8xf32>, tensor<3x64x8xf32>) {
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #rows}> : (tensor<6x64xf32>, tensor<3x64x8xf32>, tensor<3xi32>) -> tensor<6x8xf32>
  %1 = "chlo.ragged_dot"(%x, %z, %sizes) <{ragged_dot_dimension_numbers = #sums}> : (tensor<6x64xf32>, tensor<6x8xf32>, tensor<3xi32>) -> tensor<3x64x8xf32>
  return %0, %1 : tensor<6x8xf32>, tensor<3x64x8xf32>
}
