// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp4 activations=none" 2>/dev/null | FileCheck %s --check-prefix=ONLY
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 ahead=false" 2>/dev/null | FileCheck %s --check-prefix=INPROGRAM
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 rule=round-up non-finite=propagate both-activations" 2>/dev/null | FileCheck %s --check-prefix=OPTIONS
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp8_e4m3 preset=ocp" 2>/dev/null | FileCheck %s --check-prefix=PRESET
// RUN: octavo-opt %s -octavo-quantize-dots=weights=nvfp4 2>/dev/null | FileCheck %s --check-prefix=NVFP4
// RUN: octavo-opt %s -octavo-quantize-dots=weights=fp8_block 2>/dev/null | FileCheck %s --check-prefix=BLOCK

// A weight that only a dot takes: the argument becomes scaled, blocked along the contracted axis.
// The activation is quantized once for both dots.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: %arg1: !octavo.scaled<48x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> {octavo.name = "query.weight", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>}
// CHECK-SAME: %arg2: !octavo.scaled<64x48xf8E4M3FN, scale f8E8M0FNU, block [32, 1]> {octavo.name = "key.weight", octavo.parameter, octavo.quantize = #octavo.quantization<rule = floor>}
// CHECK-NEXT: %[[X:.*]] = octavo.quantize %arg0, rule = floor : tensor<2x8x64xf32> -> !octavo.scaled<2x8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
// CHECK-NEXT: %[[Q:.*]] = octavo.dot_general %[[X]], %arg1, contracting_dims = [2] x [1] : {{.*}} -> tensor<2x8x48xf32>
// CHECK-NEXT: %[[K:.*]] = octavo.dot_general %[[X]], %arg2, contracting_dims = [2] x [0] : {{.*}} -> tensor<2x8x48xf32>
// CHECK-NEXT: stablehlo.dot_general %[[Q]], %[[K]], batching_dims = [0] x [0], contracting_dims = [2] x [2]
// REMARK: remark: {{.*}}layer/query/dot_general (16x48x64) quantized: mxfp8_e4m3 x mxfp8_e4m3, weight quantized when it is bound
// REMARK: remark: {{.*}}layer/key/dot_general (16x48x64) quantized: mxfp8_e4m3 x mxfp8_e4m3, weight quantized when it is bound
// REMARK: remark: {{.*}}layer/scores/dot_general (2 of 8x8x48) left: both operands are activations
// ONLY-LABEL: func.func @layer
// ONLY-NEXT: octavo.dot_general %arg0, %arg1, contracting_dims = [2] x [1] : (tensor<2x8x64xf32>, !octavo.scaled<48x64xf4E2M1FN, scale f8E8M0FNU, block [1, 32]>) -> tensor<2x8x48xf32>
// INPROGRAM-LABEL: func.func @layer
// INPROGRAM-SAME: %arg1: tensor<48x64xf32> {octavo.name = "query.weight", octavo.parameter}
// INPROGRAM: octavo.quantize %arg1, rule = floor : tensor<48x64xf32> -> !octavo.scaled<48x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// PRESET-LABEL: func.func @layer
// PRESET-SAME: octavo.quantize = #octavo.quantization<preset = "ocp">
// PRESET: octavo.quantize %arg0, preset = "ocp" : tensor<2x8x64xf32>
// OPTIONS-LABEL: func.func @layer
// OPTIONS-SAME: octavo.quantize = #octavo.quantization<rule = round-up, non_finite = propagate>
// OPTIONS: octavo.quantize %arg0, rule = round-up, non_finite = propagate
// OPTIONS: %[[Q:.*]] = octavo.dot_general {{.*}}, %arg1
// OPTIONS: octavo.quantize %[[Q]], rule = round-up, non_finite = propagate : tensor<2x8x48xf32> -> !octavo.scaled<2x8x48xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
// OPTIONS-NOT: stablehlo.dot_general
// OPTIONS: return
// NVFP4-LABEL: func.func @layer
// NVFP4-SAME: %arg1: !octavo.scaled<48x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32> {{{.*}}octavo.quantize = #octavo.quantization<rule = nearest>}
// BLOCK-LABEL: func.func @layer
// BLOCK-SAME: %arg1: !octavo.scaled<48x64xf8E4M3FN, scale f32, block [48, 64]>
// BLOCK-NEXT: octavo.quantize %arg0, rule = nearest : tensor<2x8x64xf32> -> !octavo.scaled<2x8x64xf8E4M3FN, scale f32, block [1, 1, 64]>
func.func @layer(%x: tensor<2x8x64xf32>, %q: tensor<48x64xf32> {octavo.name = "query.weight", octavo.parameter}, %k: tensor<64x48xf32> {octavo.name = "key.weight", octavo.parameter}) -> tensor<2x8x8xf32> {
  %0 = stablehlo.dot_general %x, %q, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x8x64xf32>, tensor<48x64xf32>) -> tensor<2x8x48xf32> loc("layer/query/dot_general")
  %1 = stablehlo.dot_general %x, %k, contracting_dims = [2] x [0] : (tensor<2x8x64xf32>, tensor<64x48xf32>) -> tensor<2x8x48xf32> loc("layer/key/dot_general")
  %2 = stablehlo.dot_general %0, %1, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x8x48xf32>, tensor<2x8x48xf32>) -> tensor<2x8x8xf32> loc("layer/scores/dot_general")
  return %2 : tensor<2x8x8xf32>
}

// A transposed weight is quantized as it is bound; the dot contracts the axis where it then lies.
// Widening loses nothing, so the weight is quantized from its own bf16.
// CHECK-LABEL: func.func @transposed
// CHECK-SAME: %arg1: !octavo.scaled<48x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// CHECK-NOT: transpose
// CHECK: octavo.dot_general %{{.*}}, %arg1, contracting_dims = [1] x [1]
func.func @transposed(%x: tensor<8x64xf32>, %w: tensor<48x64xbf16> {octavo.parameter}) -> tensor<8x48xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<48x64xbf16>) -> tensor<64x48xbf16>
  %1 = stablehlo.convert %0 : (tensor<64x48xbf16>) -> tensor<64x48xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x48xf32>) -> tensor<8x48xf32>
  return %2 : tensor<8x48xf32>
}

// The free axes of the result would change their order: codes and scales are transposed.
// CHECK-LABEL: func.func @reordered
// CHECK-SAME: %arg1: !octavo.scaled<4x6x32xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
// CHECK: %[[E:.*]], %[[S:.*]] = octavo.unpack %arg1
// CHECK-DAG: %[[TE:.*]] = stablehlo.transpose %[[E]]
// CHECK-DAG: %[[TS:.*]] = stablehlo.transpose %[[S]], dims = [1, 0, 2] : (tensor<4x6x1xf8E8M0FNU>) -> tensor<6x4x1xf8E8M0FNU>
// CHECK: octavo.pack %[[TE]], %[[TS]] : {{.*}} -> !octavo.scaled<6x4x32xf8E4M3FN, scale f8E8M0FNU, block [1, 1, 32]>
func.func @reordered(%x: tensor<8x32xf32>, %w: tensor<4x6x32xf32> {octavo.parameter}) -> tensor<8x6x4xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0, 2] : (tensor<4x6x32xf32>) -> tensor<6x4x32xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [2] : (tensor<8x32xf32>, tensor<6x4x32xf32>) -> tensor<8x6x4xf32>
  return %1 : tensor<8x6x4xf32>
}

// CHECK-LABEL: func.func @reshaped
// CHECK-SAME: %arg1: !octavo.scaled<32x2x3xf8E4M3FN, scale f8E8M0FNU, block [32, 1, 1]>
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<32x6xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>
func.func @reshaped(%x: tensor<8x32xf32>, %w: tensor<32x2x3xf32> {octavo.parameter}) -> tensor<8x6xf32> {
  %0 = stablehlo.reshape %w : (tensor<32x2x3xf32>) -> tensor<32x6xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x32xf32>, tensor<32x6xf32>) -> tensor<8x6xf32>
  return %1 : tensor<8x6xf32>
}

// An embedding that is also the output's weight stays wide for its other use.
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %arg1: tensor<48x64xf32> {octavo.parameter}
// REMARK: in the program: it is used by stablehlo.add as well
func.func @shared(%x: tensor<48x64xf32>, %w: tensor<48x64xf32> {octavo.parameter}) -> tensor<48x48xf32> {
  %0 = stablehlo.add %x, %w : tensor<48x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<48x64xf32>, tensor<48x64xf32>) -> tensor<48x48xf32>
  return %1 : tensor<48x48xf32>
}

// CHECK-LABEL: func.func @both_ways
// CHECK-SAME: %arg1: tensor<64x64xf32> {octavo.parameter}
// REMARK: in the program: its dots need different blocks
// REMARK: in the program: its dots need different blocks
func.func @both_ways(%x: tensor<8x64xf32>, %w: tensor<64x64xf32> {octavo.parameter}) -> tensor<8x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %1 : tensor<8x64xf32>
}

// A weight of a private function is one if every call gives it one. Each is quantized where it comes from.
// CHECK-LABEL: func.func public @caller
// CHECK-SAME: %arg1: tensor<48x64xf32> {octavo.parameter}
// CHECK-DAG: %[[W:.*]] = octavo.quantize %arg1
// CHECK-DAG: %[[C:.*]] = octavo.pack
// CHECK: call @dense(%arg0, %[[W]]) : (tensor<8x64xf32>, !octavo.scaled<48x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)
// CHECK: call @dense(%arg0, %[[C]])
// CHECK-LABEL: func.func private @dense
// CHECK-SAME: %arg1: !octavo.scaled<48x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)
// CHECK: octavo.dot_general %{{.*}}, %arg1
// CHECK-LABEL: func.func private @sometimes
// CHECK-NOT: octavo.dot_general
// CHECK: return
// REMARK: in the program: it is used by stablehlo.exponential as well
// REMARK: left: the function around it is called with the weight "{{.*}}" and with activations: give the calls with weights a function of their own
func.func public @caller(%x: tensor<8x64xf32>, %w: tensor<48x64xf32> {octavo.parameter}) -> tensor<8x48xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<48x64xf32>
  %0 = call @dense(%x, %w) : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  %1 = call @dense(%x, %c) : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  %2 = call @sometimes(%x, %w) : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  %3 = stablehlo.exponential %w : tensor<48x64xf32>
  %4 = call @sometimes(%x, %3) : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  return %0 : tensor<8x48xf32>
}
func.func private @dense(%x: tensor<8x64xf32>, %w: tensor<48x64xf32>) -> tensor<8x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  return %0 : tensor<8x48xf32>
}
func.func private @sometimes(%x: tensor<8x64xf32>, %w: tensor<48x64xf32>) -> tensor<8x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<48x64xf32>) -> tensor<8x48xf32>
  return %0 : tensor<8x48xf32>
}

// K that is no multiple of the block; a weight on the left; a result of bf16.
// CHECK-LABEL: func.func @ragged
// CHECK-SAME: %arg0: !octavo.scaled<48x100xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general %arg0, %{{.*}}, contracting_dims = [1] x [0] : {{.*}}block [32, 1]>) -> tensor<48x8xbf16>
func.func @ragged(%w: tensor<48x100xbf16> {octavo.parameter}, %x: tensor<100x8xbf16>) -> tensor<48x8xbf16> {
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<48x100xbf16>, tensor<100x8xbf16>) -> tensor<48x8xbf16>
  return %0 : tensor<48x8xbf16>
}
