// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @running_sum
func.func @running_sum(%x: tensor<8xf32>, %zero: tensor<f32>) -> (tensor<8xf32>, tensor<f32>) {
  // CHECK: %0:2 = chlo.scan(%arg0) inits (%arg1) dimension=0  {
  // CHECK-NEXT: ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
  // CHECK-NEXT: %1 = stablehlo.add %input, %carry : tensor<f32>
  // CHECK-NEXT: stablehlo.return %1, %1 : tensor<f32>, tensor<f32>
  // CHECK-NEXT: } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  %y, %sum = chlo.scan(%x) inits (%zero) dimension=0 {
  ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
    %s = stablehlo.add %input, %carry : tensor<f32>
    stablehlo.return %s, %s : tensor<f32>, tensor<f32>
  } : (tensor<8xf32>, tensor<f32>) -> (tensor<8xf32>, tensor<f32>)
  return %y, %sum : tensor<8xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @attributes
func.func @attributes(%x: tensor<2x8xf32>, %zero: tensor<f32>) {
  // CHECK: chlo.scan() inits (%arg1) dimension=0  attributes {is_associative = false, is_reverse = true, scan_dim_size = 3 : i64} {
  %0:2 = chlo.scan() inits (%zero) dimension=0 attributes {is_reverse = true, is_associative = false, scan_dim_size = 3 : i64} {
  ^bb0(%carry: tensor<f32>):
    stablehlo.return %carry, %carry : tensor<f32>, tensor<f32>
  } : (tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  // CHECK: chlo.scan(%arg0) inits () dimension=1  {
  // CHECK: } : (tensor<2x8xf32>) -> tensor<2x8xf32>
  %1 = chlo.scan(%x) inits () dimension=1 {
  ^bb0(%input: tensor<2xf32>):
    stablehlo.return %input : tensor<2xf32>
  } : (tensor<2x8xf32>) -> tensor<2x8xf32>
  return
}
