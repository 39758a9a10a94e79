// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-quantize-dots=weights=mxfp8_e4m3 -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: octavo-opt %s -octavo-quantize-dots=weights=fp8_tensor 2>/dev/null | FileCheck %s --check-prefix=TENSOR
// RUN: octavo-opt %s -octavo-quantize-dots=weights=fp8_tensor -o /dev/null 2>&1 | FileCheck %s --check-prefix=TENSOR-REMARK
// RUN: octavo-opt %s -octavo-quantize-dots=weights=nvfp4 -o /dev/null 2>&1 | FileCheck %s --check-prefix=NVFP4

// Weights that are moved about are quantized as they lie; their codes and scales are moved.

// A layer of a stack.
// CHECK-LABEL: func.func @layer
// CHECK-SAME: %arg1: !octavo.scaled<3x64x48xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>
// CHECK: %[[E:.*]], %[[S:.*]] = octavo.unpack %arg1
// CHECK-DAG: stablehlo.dynamic_slice %[[E]], %arg2, %{{.*}}, %{{.*}}, sizes = [1, 64, 48]
// CHECK-DAG: stablehlo.dynamic_slice %[[S]], %arg2, %{{.*}}, %{{.*}}, sizes = [1, 2, 48]
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<64x48xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>
// TENSOR-LABEL: func.func @layer
// TENSOR-SAME: %arg1: !octavo.scaled<3x64x48xf8E4M3FN, scale f32, block [1, 64, 48]>
// NVFP4: weight quantized in the program: it is reached through stablehlo.dynamic_slice, and what that takes has an outer scale of its own
func.func @layer(%x: tensor<8x64xf32>, %w: tensor<3x64x48xf32> {octavo.parameter}, %i: tensor<i32>) -> tensor<8x48xf32> {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.dynamic_slice %w, %i, %0, %0, sizes = [1, 64, 48] : (tensor<3x64x48xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x48xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x64x48xf32>) -> tensor<64x48xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x48xf32>) -> tensor<8x48xf32>
  return %3 : tensor<8x48xf32>
}

// Thirds of the columns, of which each has its scale.
// CHECK-LABEL: func.func @thirds
// CHECK-SAME: %arg1: !octavo.scaled<64x96xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>
// TENSOR-LABEL: func.func @thirds
// TENSOR-SAME: %arg1: !octavo.scaled<64x96xf8E4M3FN, scale f32, block [64, 32]>
// NVFP4: in the program: it is reached through stablehlo.slice, and what that takes has an outer scale of its own
func.func @thirds(%x: tensor<8x64xf32>, %w: tensor<64x96xf32> {octavo.parameter}) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %0 = stablehlo.slice %w [0:64, 0:32] : (tensor<64x96xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.slice %w [0:64, 64:96] : (tensor<64x96xf32>) -> tensor<64x32xf32>
  %2 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  %3 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
  return %2, %3 : tensor<8x32xf32>, tensor<8x32xf32>
}

// Two axes that are contracted as one: a block is half a head.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: %arg1: !octavo.scaled<4x64x48xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<256x48xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>
func.func @heads(%x: tensor<8x4x64xf32>, %w: tensor<4x64x48xf32> {octavo.parameter}) -> tensor<8x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1, 2] x [0, 1] : (tensor<8x4x64xf32>, tensor<4x64x48xf32>) -> tensor<8x48xf32>
  return %0 : tensor<8x48xf32>
}

// A slice that begins within a block.
// CHECK-LABEL: func.func @within_a_block
// CHECK: octavo.quantize %{{.*}} : tensor<64x48xf32>
// REMARK: within_a_block{{.*}} in the program: it is reached through stablehlo.slice, which cuts blocks or takes parts of them
func.func @within_a_block(%x: tensor<8x64xf32>, %w: tensor<96x48xf32> {octavo.parameter}) -> tensor<8x48xf32> {
  %0 = stablehlo.slice %w [16:80, 0:48] : (tensor<96x48xf32>) -> tensor<64x48xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x48xf32>) -> tensor<8x48xf32> loc("within_a_block")
  return %1 : tensor<8x48xf32>
}

// A head of a reshape that takes blocks apart.
// REMARK: apart{{.*}} in the program: it is reached through stablehlo.reshape, which cuts blocks or takes parts of them
func.func @apart(%x: tensor<8x48xf32>, %w: tensor<64x48xf32> {octavo.parameter}) -> tensor<8x64xf32> {
  %0 = stablehlo.reshape %w : (tensor<64x48xf32>) -> tensor<48x64xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x48xf32>, tensor<48x64xf32>) -> tensor<8x64xf32> loc("apart")
  return %1 : tensor<8x64xf32>
}

// Parts of different sizes need scales of different blocks.
// TENSOR-REMARK: unequal{{.*}} in the program: its dots need different blocks
func.func @unequal(%x: tensor<8x64xf32>, %w: tensor<64x96xf32> {octavo.parameter}) -> (tensor<8x32xf32>, tensor<8x64xf32>) {
  %0 = stablehlo.slice %w [0:64, 0:32] : (tensor<64x96xf32>) -> tensor<64x32xf32>
  %1 = stablehlo.slice %w [0:64, 0:64] : (tensor<64x96xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32> loc("unequal")
  %3 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<8x64xf32>, tensor<64x64xf32>) -> tensor<8x64xf32>
  return %2, %3 : tensor<8x32xf32>, tensor<8x64xf32>
}
