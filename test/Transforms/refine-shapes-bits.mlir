// RUN: octavo-opt %s --pass-pipeline="builtin.module(octavo-refine-shapes{types=tensor<3x4xf32>,tensor<5x2xi8>})" | FileCheck %s
// Elements of another width have an axis more or less; the others stay.

// CHECK: func.func @main(%{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<5x2xi8>) -> (tensor<3x4xi32>, tensor<3x4x2xi16>, tensor<5xi16>)
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x2xi8>) -> (tensor<?x4xi32>, tensor<?x4x2xi16>, tensor<?xi16>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<?x4xf32>) -> tensor<?x4xi32>
  %1 = stablehlo.bitcast_convert %x : (tensor<?x4xf32>) -> tensor<?x4x2xi16>
  %2 = stablehlo.bitcast_convert %y : (tensor<?x2xi8>) -> tensor<?xi16>
  return %0, %1, %2 : tensor<?x4xi32>, tensor<?x4x2xi16>, tensor<?xi16>
}
