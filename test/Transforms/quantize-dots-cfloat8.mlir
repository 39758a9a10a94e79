// RUN: octavo-opt %s --octavo-quantize-dots=weights=cfloat8_1_4_3_tensor 2>/dev/null | FileCheck %s
// A constant of CFloat8, which MLIR has no type of, becomes codes in ui8. 6 / 480 gives the scale
// 2^-6: 384 is 1.5 * 2^8, 160 is 1.25 * 2^7, 320 is 1.25 * 2^8, 16 is 2^4, 96 is 1.5 * 2^6, 64 is
// 2^6, 19.2 becomes 1.25 * 2^4 and 6.4 1.625 * 2^2, with the bias 7; 128 is the sign.

// CHECK-LABEL: func.func @constant
// CHECK: %[[C:.*]] = stablehlo.constant dense<{{\[\[}}124, 114, 250, 88], [108, 104, 90, 205]]> : tensor<2x4xui8>
// CHECK: %[[S:.*]] = stablehlo.constant dense<1.562500e-02> : tensor<1x1xf8E8M0FNU>
// CHECK: octavo.pack %[[C]], %[[S]] : (tensor<2x4xui8>, tensor<1x1xf8E8M0FNU>) -> !octavo.scaled<2x4xcfloat8_1_4_3, scale f8E8M0FNU, block [2, 4]>
func.func @constant(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %w = stablehlo.constant dense<[[6.0, 2.5, -5.0, 0.25], [1.5, 1.0, 0.3, -0.1]]> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
