// REQUIRES: trial-formats
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp5_e2m2 -o %t 2>/dev/null
// RUN: FileCheck %s < %t
// RUN: octavo-opt %t | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e3m4 2>/dev/null | FileCheck %s --check-prefix=E3M4
// Formats that only a build with OCTAVO_TRIAL_FORMATS has. A constant of one whose elements MLIR has
// no type of becomes codes in ui8.

// CHECK-LABEL: func.func @parameter
// CHECK-SAME: %arg1: !octavo.scaled<48x64xe2m2fn, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general %{{.*}}, %arg1, contracting_dims = [1] x [1]
// E3M4-LABEL: func.func @parameter
// E3M4-SAME: %arg1: !octavo.scaled<48x64xf8E3M4, scale f8E8M0FNU, block [1, 32]>
func.func @parameter(%x: tensor<8x64xf32>, %w: tensor<48x64xf32> {octavo.name = "w", octavo.parameter}) -> tensor<8x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  return %0 : tensor<8x48xf32>
}

// Under the scales 2^(2 - 2) and 2^(0 - 2): 14 is 1.5 * 2^2, 9 is 1.25 * 2, 1 is 0.25, and 16 is the sign.
// CHECK-LABEL: func.func @constant
// CHECK: stablehlo.constant dense<{{\[\[}}14, 9, 29, 1], [14, 12, 5, 18]]> : tensor<2x4xui8>
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>
// 6 = 1.5 * 2^2 under scale 2^(2 - 3) is 12; 0.2 is 0.4, and 0.40625 is nearest.
// E3M4-LABEL: func.func @constant
// E3M4: stablehlo.constant dense<{{\[\[}}1.200000e+01, 5.000000e+00, -1.000000e+01, 4.062500e-01], {{.*}}tensor<2x4xf8E3M4>
func.func @constant(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %w = stablehlo.constant dense<[[6.0, 2.5, -5.0, 0.2], [1.5, 1.0, 0.3, -0.1]]> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
