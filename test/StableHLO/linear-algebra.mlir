// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @factors
func.func @factors(%x: tensor<2x3x3xf32>, %z: tensor<?x3xcomplex<f64>>, %b: tensor<2x3x5xf32>) {
  // CHECK: stablehlo.cholesky
  %0 = stablehlo.cholesky %x, lower = true : tensor<2x3x3xf32>
  // CHECK: stablehlo.cholesky
  %1 = stablehlo.cholesky %z : tensor<?x3xcomplex<f64>>
  // CHECK: "stablehlo.triangular_solve"
  %2 = "stablehlo.triangular_solve"(%x, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x3x3xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return
}
