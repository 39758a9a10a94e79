// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=nvfp4 2>/dev/null | FileCheck %s --check-prefix=NVFP4
// RUN: octavo-opt %s -octavo-quantize-dots=weights=fp8_tensor 2>/dev/null | FileCheck %s --check-prefix=TENSOR
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 preset=xla" 2>/dev/null | FileCheck %s --check-prefix=XLA
// RUN: octavo-opt %s -octavo-quantize-dots=recipe=fp8-delayed 2>/dev/null | FileCheck %s --check-prefix=DELAYED

// The input is quantized once, and its codes and scales are what the windows see. What is padded are codes and scales
// of zeros, as the settings have them.
// CHECK-LABEL: func.func @padded
// CHECK-DAG: %[[X:.*]] = octavo.quantize %arg0, rule = floor : tensor<1x4x4x64xf32> -> !octavo.scaled<1x4x4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 1, 32]>
// CHECK-DAG: %[[ELEMENTS:.*]], %[[SCALES:.*]] = octavo.unpack %[[X]]
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f8E4M3FN>
// CHECK-DAG: stablehlo.pad %[[ELEMENTS]], %[[ZERO]], low = [0, 1, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0]
// CHECK-DAG: %[[SCALE:.*]] = stablehlo.constant dense<5.877470e-39> : tensor<f8E8M0FNU>
// CHECK-DAG: stablehlo.pad %[[SCALES]], %[[SCALE]], low = [0, 1, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0]
// CHECK: octavo.pack {{.*}} (tensor<1x4x4x128xf8E4M3FN>, tensor<1x4x4x4xf8E8M0FNU>) -> !octavo.scaled<1x4x4x128xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 1, 32]>
// CHECK: octavo.dot_general
// NVFP4-LABEL: func.func @padded
// NVFP4: octavo.quantize %arg0, rule = nearest : tensor<1x4x4x64xf32>
// NVFP4: stablehlo.constant dense<1.000000e+00> : tensor<f8E4M3FN>
// NVFP4: octavo.pack {{.*}} (tensor<1x4x4x128xf4E2M1FN>, tensor<1x4x4x8xf8E4M3FN>, tensor<f32>)
// XLA-LABEL: func.func @padded
// XLA: octavo.quantize %arg0, preset = "xla" : tensor<1x4x4x64xf32>
// XLA: stablehlo.constant dense<0xFF> : tensor<f8E8M0FNU>
// DELAYED-LABEL: func.func @padded
// DELAYED: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f8E4M3FN>
// DELAYED: stablehlo.pad %{{.*}}, %[[ZERO]], low = [0, 1, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<1x4x4x64xf8E4M3FN>, tensor<f8E4M3FN>)
func.func @padded(%x: tensor<1x4x4x64xf32>, %w: tensor<2x1x64x8xf32> {octavo.parameter}) -> tensor<1x4x4x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
      window = {pad = [[1, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x4x64xf32>, tensor<2x1x64x8xf32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}

// Blocks of 32 go over two places of 48 features; the one scale of a tensor does not change.
// CHECK-LABEL: func.func @cut
// CHECK: octavo.quantize %{{.*}}, rule = floor : tensor<1x3x96xf32>
// TENSOR-LABEL: func.func @cut
// TENSOR: octavo.quantize %arg0, rule = nearest : tensor<1x4x48xf32> -> !octavo.scaled<1x4x48xf8E4M3FN, scale f32, block [1, 4, 48]>
// TENSOR: octavo.pack {{.*}} (tensor<1x3x96xf8E4M3FN>, tensor<1x1x1xf32>)
func.func @cut(%x: tensor<1x4x48xf32>, %w: tensor<2x48x8xf32> {octavo.parameter}) -> tensor<1x3x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x48xf32>, tensor<2x48x8xf32>) -> tensor<1x3x8xf32>
  return %0 : tensor<1x3x8xf32>
}

// The last place is in no window: it has no part in the scale of the tensor, and a NaN there does no harm.
// CHECK-LABEL: func.func @left_out
// CHECK: %[[SEEN:.*]] = stablehlo.slice %arg0 [0:1, 0:5, 0:64]
// CHECK: octavo.quantize %[[SEEN]], rule = floor : tensor<1x5x64xf32>
// TENSOR-LABEL: func.func @left_out
// TENSOR: octavo.quantize %{{.*}}, rule = nearest : tensor<1x5x64xf32>
func.func @left_out(%x: tensor<1x6x64xf32>, %w: tensor<3x64x8xf32> {octavo.parameter}) -> tensor<1x2x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x6x64xf32>, tensor<3x64x8xf32>) -> tensor<1x2x8xf32>
  return %0 : tensor<1x2x8xf32>
}

// Each place is in one window.
// CHECK-LABEL: func.func @side_by_side
// CHECK: octavo.quantize %{{.*}}, rule = floor : tensor<1x2x128xf32>
func.func @side_by_side(%x: tensor<1x4x64xf32>, %w: tensor<2x64x8xf32> {octavo.parameter}) -> tensor<1x2x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {stride = [2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x64xf32>, tensor<2x64x8xf32>) -> tensor<1x2x8xf32>
  return %0 : tensor<1x2x8xf32>
}

// What two convolutions take is quantized once for both.
// CHECK-LABEL: func.func @twice
// CHECK-COUNT-1: octavo.quantize %arg0
// CHECK-NOT: octavo.quantize %arg0
func.func @twice(%x: tensor<1x4x64xf32>, %w: tensor<2x64x8xf32> {octavo.parameter}, %v: tensor<3x64x8xf32> {octavo.parameter}) -> (tensor<1x3x8xf32>, tensor<1x2x8xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x64xf32>, tensor<2x64x8xf32>) -> tensor<1x3x8xf32>
  %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
      window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x4x64xf32>, tensor<3x64x8xf32>) -> tensor<1x2x8xf32>
  return %0, %1 : tensor<1x3x8xf32>, tensor<1x2x8xf32>
}
