// REQUIRES: trial-formats
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp5_e2m2 -o %t 2> %t.remarks
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: octavo-opt %t | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e3m4 2>/dev/null | FileCheck %s --check-prefix=E3M4
// Formats that only a build with OCTAVO_TRIAL_FORMATS has. A constant of them is quantized in the
// program where MLIR has no type for the elements.

// CHECK-LABEL: func.func @parameter
// CHECK-SAME: %arg1: !octavo.scaled<48x64xe2m2fn, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general %{{.*}}, %arg1, contracting_dims = [1] x [1]
// E3M4-LABEL: func.func @parameter
// E3M4-SAME: %arg1: !octavo.scaled<48x64xf8E3M4, scale f8E8M0FNU, block [1, 32]>
func.func @parameter(%x: tensor<8x64xf32>, %w: tensor<48x64xf32> {octavo.name = "w", octavo.parameter}) -> tensor<8x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  return %0 : tensor<8x48xf32>
}

// REMARK: quantized: mxfp5_e2m2 x mxfp5_e2m2, {{.*}}its elements or scales have no MLIR type
// CHECK-LABEL: func.func @constant
// CHECK: octavo.quantize %{{.*}}, rule = floor : tensor<2x4xf32> -> !octavo.scaled<2x4xe2m2fn, scale f8E8M0FNU, block [1, 4]>
// 6 = 1.5 * 2^2 under scale 2^(2 - 3) is 12; 0.2 is 0.4, and 0.40625 is nearest.
// E3M4-LABEL: func.func @constant
// E3M4: stablehlo.constant dense<{{\[\[}}1.200000e+01, 5.000000e+00, -1.000000e+01, 4.062500e-01], {{.*}}tensor<2x4xf8E3M4>
func.func @constant(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %w = stablehlo.constant dense<[[6.0, 2.5, -5.0, 0.2], [1.5, 1.0, 0.3, -0.1]]> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
