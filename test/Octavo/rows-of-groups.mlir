// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @rows_of_groups
func.func @rows_of_groups(%all: tensor<11x3x7xf32>, %sizes: tensor<3xi32>, %open: tensor<?x?x2x7xbf16>) {
  // CHECK: octavo.rows_of_groups %arg0, %arg1 : (tensor<11x3x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  %0 = octavo.rows_of_groups %all, %sizes : (tensor<11x3x7xf32>, tensor<3xi32>) -> tensor<11x7xf32>
  // CHECK: octavo.rows_of_groups %arg2, %arg1 : (tensor<?x?x2x7xbf16>, tensor<3xi32>) -> tensor<?x2x7xbf16>
  %1 = octavo.rows_of_groups %open, %sizes : (tensor<?x?x2x7xbf16>, tensor<3xi32>) -> tensor<?x2x7xbf16>
  return
}
