// RUN: octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3x20xf32>,tensor<20x64xf32>})" | FileCheck %s
// Blocks that span an axis, and those that are longer than it, become its extent.

// CHECK-LABEL: func.func @main
// CHECK: octavo.quantize %{{.*}}, rule = floor : tensor<3x20xf32> -> !octavo.scaled<3x20xf8E4M3FN, scale f8E8M0FNU, block [1, 20]>
// CHECK: octavo.quantize %{{.*}}, rule = nearest : tensor<20x64xf32> -> !octavo.scaled<20x64xf8E4M3FN, scale f32, block [20, 1]>
// CHECK: octavo.dequantize %{{.*}} -> tensor<3x20xf32>
// CHECK: octavo.unpack %{{.*}} -> (tensor<20x64xf8E4M3FN>, tensor<1x64xf32>)
// CHECK: octavo.pack %{{.*}} -> !octavo.scaled<20x64xf8E4M3FN, scale f32, block [20, 1]>
// CHECK: octavo.dot_general %{{.*}} -> tensor<3x64xf32>
!x = !octavo.scaled<?x?xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!y = !octavo.scaled<?x?xf8E4M3FN, scale f32, block [?, 1]>
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>) {
  %0 = octavo.quantize %x, rule = floor : tensor<?x?xf32> -> !x
  %1 = octavo.quantize %y, rule = nearest : tensor<?x?xf32> -> !y
  %2 = octavo.dequantize %0 : !x -> tensor<?x?xf32>
  %3, %4 = octavo.unpack %1 : (!y) -> (tensor<?x?xf8E4M3FN>, tensor<?x?xf32>)
  %5 = octavo.pack %3, %4 : (tensor<?x?xf8E4M3FN>, tensor<?x?xf32>) -> !y
  %6 = octavo.dot_general %0, %5, contracting_dims = [1] x [0] : (!x, !y) -> tensor<?x?xf32>
  return %2, %6 : tensor<?x?xf32>, tensor<?x?xf32>
}
