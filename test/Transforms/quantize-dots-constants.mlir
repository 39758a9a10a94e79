// RUN: octavo-opt %s -split-input-file -octavo-quantize-dots=weights=mxfp4 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -split-input-file -octavo-quantize-dots=weights=nvfp4 2>/dev/null | FileCheck %s --check-prefix=NVFP4
// RUN: octavo-opt %s -split-input-file -octavo-quantize-dots=weights=mxint8 2>/dev/null | FileCheck %s --check-prefix=INT8
// RUN: octavo-opt %s -split-input-file -octavo-quantize-dots=weights=mxint8 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK-COUNT-2: quantized: mxint8 x mxint8, weight quantized ahead

// By hand from OCP MX 6.3: row 0 has amax 6 = 1.5 * 2^2, scale 2^(2 - 2); row 1 has amax 1.5, scale
// 2^(0 - 2). 2.5 lies between 2 and 3 and goes to the even 2; 0.2 goes to 0; 0.3 / 0.25 = 1.2 to 1.
// CHECK-LABEL: func.func @constant
// CHECK-NEXT: %[[X:.*]] = octavo.quantize %arg0
// CHECK-NEXT: %[[E:.*]] = stablehlo.constant dense<{{\[\[}}6.000000e+00, 2.000000e+00, -4.000000e+00, 0.000000e+00], [6.000000e+00, 4.000000e+00, 1.000000e+00, -5.000000e-01]]> : tensor<2x4xf4E2M1FN>
// CHECK-NEXT: %[[S:.*]] = stablehlo.constant dense<{{\[\[}}1.000000e+00], [2.500000e-01]]> : tensor<2x1xf8E8M0FNU>
// CHECK-NEXT: %[[W:.*]] = octavo.pack %[[E]], %[[S]] : {{.*}} -> !octavo.scaled<2x4xf4E2M1FN, scale f8E8M0FNU, block [1, 4]>
// CHECK-NEXT: octavo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [1]
// The outer scale of NVFP4 is amax / (6 * 448), and then the scale of row 0 is 448, of row 1 112.
// NVFP4-LABEL: func.func @constant
// NVFP4: stablehlo.constant dense<{{\[\[}}4.480000e+02], [1.120000e+02]]> : tensor<2x1xf8E4M3FN>
// NVFP4: stablehlo.constant dense<0.00223214296> : tensor<f32>
// NVFP4: octavo.pack %{{.*}}, %{{.*}}, %{{.*}} : (tensor<2x4xf4E2M1FN>, tensor<2x1xf8E4M3FN>, tensor<f32>)
// INT8 has emax 0: scales 2^2 and 2^0; 6 / 4 * 64 = 96, 1.5 * 64 = 96.
// INT8-LABEL: func.func @constant
// INT8: stablehlo.constant dense<{{\[\[}}96, 40, -80, 3], [96, 64, 19, -6]]> : tensor<2x4xi8>
// INT8: stablehlo.constant dense<{{\[\[}}4.000000e+00], [1.000000e+00]]> : tensor<2x1xf8E8M0FNU>
func.func @constant(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %w = stablehlo.constant dense<[[6.0, 2.5, -5.0, 0.2], [1.5, 1.0, 0.3, -0.1]]> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}

// -----

// A constant under a transposition, of bf16, which keeps its other use.
// CHECK-LABEL: func.func @transposed
// CHECK: %[[C:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<2x4xbf16>
// CHECK: %[[W:.*]] = octavo.pack
// CHECK: octavo.dot_general %{{.*}}, %[[W]], contracting_dims = [1] x [1]
// CHECK: return %{{.*}}, %[[C]]
func.func @transposed(%x: tensor<8x4xbf16>) -> (tensor<8x2xbf16>, tensor<2x4xbf16>) {
  %c = stablehlo.constant dense<1.0> : tensor<2x4xbf16>
  %w = stablehlo.transpose %c, dims = [1, 0] : (tensor<2x4xbf16>) -> tensor<4x2xbf16>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x2xbf16>) -> tensor<8x2xbf16>
  return %0, %c : tensor<8x2xbf16>, tensor<2x4xbf16>
}
