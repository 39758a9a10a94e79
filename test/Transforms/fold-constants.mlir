// RUN: octavo-opt %s --octavo-fold-constants --canonicalize | FileCheck %s
// RUN: octavo-opt %s --octavo-fold-constants=max-elements=2 --canonicalize | FileCheck %s --check-prefix=SMALL

// CHECK-LABEL: func.func @chain
// SMALL-LABEL: func.func @chain
func.func @chain() -> (tensor<3xf8E4M3FN>, tensor<3xi1>, tensor<3xcomplex<f32>>) {
  %x = stablehlo.constant dense<[448.0, 1.0, 0.0]> : tensor<3xf8E4M3FN>
  %y = stablehlo.constant dense<[16.0, 0.0625, 2.0]> : tensor<3xf8E4M3FN>
  // 464 is the tie that goes to 448, 1.0625 the tie that goes to 1 (rule I1).
  // CHECK-DAG: stablehlo.constant dense<[4.480000e+02, 1.000000e+00, 2.000000e+00]> : tensor<3xf8E4M3FN>
  // SMALL: stablehlo.add
  %z = stablehlo.add %x, %y : tensor<3xf8E4M3FN>
  // CHECK-DAG: stablehlo.constant dense<[true, true, false]> : tensor<3xi1>
  %p = stablehlo.compare GE, %x, %z : (tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>) -> tensor<3xi1>
  // CHECK-DAG: stablehlo.constant dense<[(4.480000e+02,0.000000e+00), (1.000000e+00,0.000000e+00), (2.000000e+00,0.000000e+00)]> : tensor<3xcomplex<f32>>
  %c = stablehlo.convert %z : (tensor<3xf8E4M3FN>) -> tensor<3xcomplex<f32>>
  // CHECK-NOT: stablehlo.{{add|compare|convert}}
  return %z, %p, %c : tensor<3xf8E4M3FN>, tensor<3xi1>, tensor<3xcomplex<f32>>
}

// A reduction is folded with its region; one whose region uses a value from around it is left.
// CHECK-LABEL: func.func @regions
func.func @regions(%w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %x = stablehlo.constant dense<[1.0, 2.0, 4.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK-DAG: stablehlo.constant dense<7.000000e+00> : tensor<f32>
  %a = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: stablehlo.reduce
  %b = stablehlo.reduce(%x init: %zero) across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
    reducer(%s: tensor<f32>, %e: tensor<f32>) {
      %p = stablehlo.multiply %e, %w : tensor<f32>
      %n = stablehlo.add %s, %p : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }
  // CHECK-NOT: stablehlo.reduce
  return %a, %b : tensor<f32>, tensor<f32>
}

// Compiled code may give another last bit for a function (rule C2): it is evaluated when the program runs.
// CHECK-LABEL: func.func @functions
func.func @functions() -> (tensor<2xf32>, tensor<2xf64>, tensor<2xf64>, tensor<2xf32>) {
  %x = stablehlo.constant dense<[0.5, 3.0]> : tensor<2xf32>
  %y = stablehlo.constant dense<[0.5, 3.0]> : tensor<2xf64>
  // CHECK: stablehlo.logistic
  %a = stablehlo.logistic %x : tensor<2xf32>
  // CHECK: stablehlo.sine
  %b = stablehlo.sine %y : tensor<2xf64>
  // CHECK-NOT: stablehlo.rsqrt
  %c = stablehlo.rsqrt %y : tensor<2xf64>
  // CHECK: stablehlo.map
  %d = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%e: tensor<f32>):
    %t = stablehlo.tanh %e : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %a, %b, %c, %d : tensor<2xf32>, tensor<2xf64>, tensor<2xf64>, tensor<2xf32>
}
