// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%arg0: tensor<2xf32>) {
  // CHECK: chlo.acos %arg0 : tensor<2xf32> -> tensor<2xf32>
  %0 = chlo.acos %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.acosh %arg0 : tensor<2xf32> -> tensor<2xf32>
  %1 = chlo.acosh %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.asin %arg0 : tensor<2xf32> -> tensor<2xf32>
  %2 = chlo.asin %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.asinh %arg0 : tensor<2xf32> -> tensor<2xf32>
  %3 = chlo.asinh %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.atan %arg0 : tensor<2xf32> -> tensor<2xf32>
  %4 = chlo.atan %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.atanh %arg0 : tensor<2xf32> -> tensor<2xf32>
  %5 = chlo.atanh %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.conj %arg0 : tensor<2xf32> -> tensor<2xf32>
  %6 = chlo.conj %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.cosh %arg0 : tensor<2xf32> -> tensor<2xf32>
  %7 = chlo.cosh %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.digamma %arg0 : tensor<2xf32> -> tensor<2xf32>
  %8 = chlo.digamma %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.erf_inv %arg0 : tensor<2xf32> -> tensor<2xf32>
  %9 = chlo.erf_inv %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.lgamma %arg0 : tensor<2xf32> -> tensor<2xf32>
  %10 = chlo.lgamma %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.sinh %arg0 : tensor<2xf32> -> tensor<2xf32>
  %11 = chlo.sinh %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.tan %arg0 : tensor<2xf32> -> tensor<2xf32>
  %12 = chlo.tan %arg0 : tensor<2xf32> -> tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @predicates
func.func @predicates(%arg0: tensor<2xf32>) {
  // CHECK: chlo.is_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  %0 = chlo.is_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  // CHECK: chlo.is_neg_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  %1 = chlo.is_neg_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  // CHECK: chlo.is_pos_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  %2 = chlo.is_pos_inf %arg0 : tensor<2xf32> -> tensor<2xi1>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%arg0: tensor<2xf32>, %arg1: tensor<2xi32>) {
  // CHECK: chlo.next_after %arg0, %arg0 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %0 = chlo.next_after %arg0, %arg0 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.mulhi %arg1, %arg1 : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  %1 = chlo.mulhi %arg1, %arg1 : tensor<2xi32>, tensor<2xi32> -> tensor<2xi32>
  return
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<2x3xi32>, %arg3: tensor<3xi32>) {
  // CHECK: chlo.broadcast_add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = chlo.broadcast_add %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_subtract %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = chlo.broadcast_subtract %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_multiply %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %2 = chlo.broadcast_multiply %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_divide %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = chlo.broadcast_divide %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_remainder %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %4 = chlo.broadcast_remainder %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_maximum %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = chlo.broadcast_maximum %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_minimum %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %6 = chlo.broadcast_minimum %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_power %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = chlo.broadcast_power %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_next_after %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %8 = chlo.broadcast_next_after %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_atan2 %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %9 = chlo.broadcast_atan2 %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_and %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %10 = chlo.broadcast_and %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: chlo.broadcast_or %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %11 = chlo.broadcast_or %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: chlo.broadcast_xor %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %12 = chlo.broadcast_xor %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: chlo.broadcast_shift_left %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %13 = chlo.broadcast_shift_left %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: chlo.broadcast_shift_right_arithmetic %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %14 = chlo.broadcast_shift_right_arithmetic %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: chlo.broadcast_shift_right_logical %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  %15 = chlo.broadcast_shift_right_logical %arg2, %arg3 : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  // CHECK: chlo.broadcast_polygamma %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %16 = chlo.broadcast_polygamma %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_zeta %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %17 = chlo.broadcast_zeta %arg0, %arg1 : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @top_k
func.func @top_k(%arg0: tensor<2x4xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  // CHECK: %{{.*}}, %{{.*}} = chlo.top_k(%arg0, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %0, %1 = chlo.top_k(%arg0, k = 3) : tensor<2x4xf32> -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xi32>
}
