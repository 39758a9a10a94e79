// RUN: octavo-opt %s --octavo-legalize-arith | FileCheck %s

// CHECK-LABEL: func.func @constants
// CHECK-NEXT: stablehlo.constant dense<1.000000e-05> : tensor<1xf64>
// CHECK-NEXT: stablehlo.constant dense_resource<w> : tensor<2xf32>
// CHECK-NEXT: arith.constant 3 : index
// CHECK-NEXT: arith.constant dense<3> : tensor<2xindex>
func.func @constants() -> (tensor<1xf64>, tensor<2xf32>, index, tensor<2xindex>) {
  %0 = arith.constant dense<1.0e-05> : tensor<1xf64>
  %1 = arith.constant dense_resource<w> : tensor<2xf32>
  %2 = arith.constant 3 : index
  %3 = arith.constant dense<3> : tensor<2xindex>
  return %0, %1, %2, %3 : tensor<1xf64>, tensor<2xf32>, index, tensor<2xindex>
}

// CHECK-LABEL: func.func @arithmetic
// CHECK-NEXT: stablehlo.add %arg0, %arg0 : tensor<2xf32>
// CHECK-NEXT: stablehlo.divide %arg1, %arg1 : tensor<2xi8>
// CHECK-NEXT: arith.divui %arg1, %arg1 : tensor<2xi8>
// CHECK-NEXT: stablehlo.shift_right_logical %arg1, %arg1 : tensor<2xi8>
// CHECK-NEXT: stablehlo.and %arg2, %arg2 : tensor<2xi1>
// CHECK-NEXT: arith.addi %arg2, %arg2 : tensor<2xi1>
// CHECK-NEXT: stablehlo.round_nearest_even %arg0 : tensor<2xf32>
// CHECK-NEXT: stablehlo.select %arg2, %arg0, %arg0
// CHECK-NEXT: arith.addf %arg3, %arg3 : f32
func.func @arithmetic(%x: tensor<2xf32>, %i: tensor<2xi8>, %p: tensor<2xi1>, %s: f32) -> (tensor<2xf32>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>, f32) {
  %0 = arith.addf %x, %x : tensor<2xf32>
  %1 = arith.divsi %i, %i : tensor<2xi8>
  %2 = arith.divui %i, %i : tensor<2xi8>
  %3 = arith.shrui %i, %i : tensor<2xi8>
  %4 = arith.andi %p, %p : tensor<2xi1>
  %5 = arith.addi %p, %p : tensor<2xi1>
  %6 = math.roundeven %x : tensor<2xf32>
  %7 = arith.select %p, %x, %x : tensor<2xi1>, tensor<2xf32>
  %8 = arith.addf %s, %s : f32
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<2xf32>, tensor<2xi8>, tensor<2xi8>, tensor<2xi8>, tensor<2xi1>, tensor<2xi1>, tensor<2xf32>, tensor<2xf32>, f32
}

// CHECK-LABEL: func.func @conversions_and_comparisons
// CHECK-NEXT: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf64>
// CHECK-NEXT: stablehlo.convert %arg1 : (tensor<2xi8>) -> tensor<2xi32>
// CHECK-NEXT: arith.extsi %arg2 : tensor<2xi1> to tensor<2xi8>
// CHECK-NEXT: stablehlo.convert %arg2 : (tensor<2xi1>) -> tensor<2xi8>
// CHECK-NEXT: arith.trunci %arg1 : tensor<2xi8> to tensor<2xi1>
// CHECK-NEXT: arith.truncf %arg0 downward : tensor<2xf32> to tensor<2xf16>
// CHECK-NEXT: stablehlo.compare LT, %arg0, %arg0, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// CHECK-NEXT: arith.cmpf ult, %arg0, %arg0 : tensor<2xf32>
// CHECK-NEXT: stablehlo.compare GE, %arg1, %arg1, SIGNED : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi1>
// CHECK-NEXT: stablehlo.compare EQ, %arg2, %arg2, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
// CHECK-NEXT: arith.cmpi slt, %arg2, %arg2 : tensor<2xi1>
func.func @conversions_and_comparisons(%x: tensor<2xf32>, %i: tensor<2xi8>, %p: tensor<2xi1>) {
  %0 = arith.extf %x : tensor<2xf32> to tensor<2xf64>
  %1 = arith.extsi %i : tensor<2xi8> to tensor<2xi32>
  %2 = arith.extsi %p : tensor<2xi1> to tensor<2xi8>
  %3 = arith.extui %p : tensor<2xi1> to tensor<2xi8>
  %4 = arith.trunci %i : tensor<2xi8> to tensor<2xi1>
  %5 = arith.truncf %x downward : tensor<2xf32> to tensor<2xf16>
  %6 = arith.cmpf olt, %x, %x : tensor<2xf32>
  %7 = arith.cmpf ult, %x, %x : tensor<2xf32>
  %8 = arith.cmpi sge, %i, %i : tensor<2xi8>
  %9 = arith.cmpi eq, %p, %p : tensor<2xi1>
  %10 = arith.cmpi slt, %p, %p : tensor<2xi1>
  return
}

{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}
