// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @spellings
func.func @spellings(%a: tensor<2xf32>, %b: tensor<2xf32>, %i: tensor<2xui8>, %s: tensor<f8E4M3FN>) {
  // CHECK: check.expect_eq %arg0, %arg1 : tensor<2xf32>
  check.expect_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_eq_const %arg0, dense<[1.000000e+00, 0x7FC00000]> : tensor<2xf32>
  check.expect_eq_const %a, dense<[1.0, 0x7FC00000]> : tensor<2xf32>
  // CHECK: check.expect_eq_const %arg2, dense<[1, 255]> : tensor<2xui8>
  check.expect_eq_const %i, dense<[1, 255]> : tensor<2xui8>
  // CHECK: check.expect_eq_const %arg3, dense<1.440000e+02> : tensor<f8E4M3FN>
  check.expect_eq_const %s, dense<144.0> : tensor<f8E4M3FN>
  // CHECK: check.expect_almost_eq %arg0, %arg1 : tensor<2xf32>
  check.expect_almost_eq %a, %b : tensor<2xf32>
  // CHECK: check.expect_almost_eq %arg0, %arg1, tolerance = 1.000000e-02 : tensor<2xf32>
  check.expect_almost_eq %a, %b, tolerance = 1.0e-2 : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %arg0, dense<5.000000e-01> : tensor<2xf32>
  check.expect_almost_eq_const %a, dense<0.5> : tensor<2xf32>
  // CHECK: check.expect_almost_eq_const %arg0, dense<5.000000e-01> : tensor<2xf32>, tolerance = 1.000000e-02
  check.expect_almost_eq_const %a, dense<0.5> : tensor<2xf32>, tolerance = 0.01
  // CHECK: check.expect_close %arg0, %arg1, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 3 : tensor<2xf32>, tensor<2xf32>
  // CHECK: check.expect_close %arg0, %arg1, max_ulp_difference = 18446744073709551615 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 18446744073709551615 : tensor<2xf32>, tensor<2xf32>
  // CHECK: check.expect_close %arg0, %arg1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  // CHECK: check.expect_close %arg0, %arg1, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %a, %b, max_ulp_difference = 1, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}

// The checks are kept though nothing uses them.
// RUN: octavo-opt %s -canonicalize -cse | FileCheck %s --check-prefix=KEPT
// KEPT-COUNT-10: check.expect_
