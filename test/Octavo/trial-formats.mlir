// REQUIRES: trial-formats
// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s
// RUN: octavo run %s
// Formats that only a build with OCTAVO_TRIAL_FORMATS has: elements of 5 bits, which MLIR has no type
// for, and of e3m4. Scales and elements by hand from OCP MX 6.3.

!five = !octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>
!e3m4 = !octavo.scaled<2x4xf8E3M4, scale f8E8M0FNU, block [1, 4]>

// Row 0: amax 7.9 = 1.975 * 2^2, and 2^2 is the largest power of two of E2M2: scale 1, and 7.9
// saturates at 7. Row 1: amax 1.5, scale 2^(0 - 2); 0.3 -> 1.2 -> 1.25, -0.1 -> -0.4 -> -0.5.
// CHECK-LABEL: func.func @five_bits
func.func @five_bits() {
  %x = stablehlo.constant dense<[[7.9, 2.6, -5.4, 0.2], [1.5, 1.0, 0.3, -0.1]]> : tensor<2x4xf32>
  // CHECK: octavo.quantize %{{.*}}, rule = floor : tensor<2x4xf32> -> !octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>
  %q = octavo.quantize %x, rule = floor : tensor<2x4xf32> -> !five
  // CHECK: octavo.dequantize %{{.*}} : !octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]> -> tensor<2x4xf32>
  %d = octavo.dequantize %q : !five -> tensor<2x4xf32>
  check.expect_eq_const %d, dense<[[7.0, 2.5, -5.0, 0.25], [1.5, 1.0, 0.3125, -0.125]]> : tensor<2x4xf32>
  // 49 + 6.25 + 25 + 0.0625, 10.5 + 2.5 - 1.5625 - 0.03125, 2.25 + 1 + 0.09765625 + 0.015625
  %p = octavo.dot_general %q, %q, contracting_dims = [1] x [1] : (!five, !five) -> tensor<2x2xf32>
  check.expect_eq_const %p, dense<[[80.3125, 11.40625], [11.40625, 3.36328125]]> : tensor<2x2xf32>
  return
}

// Row 0: amax 15.9, and 2^3 is the largest power of two of E3M4: scale 1, and 15.9 saturates at 15.5.
// Row 1: amax 1.5, scale 2^-3; 0.3 -> 2.4 -> 2.375, -0.1 -> -0.8 -> -0.8125.
// CHECK-LABEL: func.func @e3m4
func.func @e3m4() {
  %x = stablehlo.constant dense<[[15.9, 1.03125, -9.2, 0.0], [1.5, 1.0, 0.3, -0.1]]> : tensor<2x4xf32>
  %q = octavo.quantize %x, rule = floor : tensor<2x4xf32> -> !e3m4
  // CHECK: octavo.unpack %{{.*}} : (!octavo.scaled<2x4xf8E3M4, scale f8E8M0FNU, block [1, 4]>) -> (tensor<2x4xf8E3M4>, tensor<2x1xf8E8M0FNU>)
  %e, %s = octavo.unpack %q : (!e3m4) -> (tensor<2x4xf8E3M4>, tensor<2x1xf8E8M0FNU>)
  check.expect_eq_const %e, dense<[[15.5, 1.0, -9.0, 0.0], [12.0, 8.0, 2.375, -0.8125]]> : tensor<2x4xf8E3M4>
  %b = stablehlo.bitcast_convert %s : (tensor<2x1xf8E8M0FNU>) -> tensor<2x1xui8>
  check.expect_eq_const %b, dense<[[127], [124]]> : tensor<2x1xui8>
  return
}
