// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

// The text that JAX 0.10.2 prints for jax.lax.erf, jax.lax.erfc and jax.lax.square.

// CHECK-LABEL: func.func public @main
func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  // CHECK: %{{.*}} = chlo.erf %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %0 = chlo.erf %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK: %{{.*}} = chlo.erfc %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
  %1 = chlo.erfc %arg0 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @narrow
func.func @narrow(%arg0: tensor<4xbf16>, %arg1: tensor<f8E4M3FN>) -> tensor<4xbf16> {
  // CHECK: chlo.erf %arg0 : tensor<4xbf16> -> tensor<4xbf16>
  %0 = chlo.erf %arg0 : tensor<4xbf16> -> tensor<4xbf16>
  // CHECK: chlo.erfc %arg1 : tensor<f8E4M3FN> -> tensor<f8E4M3FN>
  %1 = chlo.erfc %arg1 : tensor<f8E4M3FN> -> tensor<f8E4M3FN>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: func.func @square
func.func @square(%arg0: tensor<2xf32>, %arg1: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  // CHECK: chlo.square %arg0 : tensor<2xf32> -> tensor<2xf32>
  %0 = chlo.square %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.square %arg1 : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %1 = chlo.square %arg1 : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func @functions
func.func @functions(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<?xi64>) {
  // CHECK: chlo.zeta %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %0 = chlo.zeta %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.polygamma %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  %1 = chlo.polygamma %arg0, %arg1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.bessel_i1e %arg0 : tensor<2xf32> -> tensor<2xf32>
  %2 = chlo.bessel_i1e %arg0 : tensor<2xf32> -> tensor<2xf32>
  // CHECK: chlo.constant dense<1.000000e+00> : tensor<2xf32>
  %3 = chlo.constant dense<1.0> : tensor<2xf32>
  // CHECK: "chlo.constant_like"(%arg2) <{value = 2.500000e+00 : f32}> : (tensor<?xi64>) -> tensor<?xf32>
  %4 = "chlo.constant_like"(%arg2) <{value = 2.5 : f32}> : (tensor<?xi64>) -> tensor<?xf32>
  return
}

// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x1xf32>) {
  // CHECK: chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %0 = chlo.broadcast_add %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: chlo.broadcast_zeta %arg1, %arg2 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  %1 = chlo.broadcast_zeta %arg1, %arg2 : (tensor<3xf32>, tensor<?x1xf32>) -> tensor<?x3xf32>
  return
}

// CHECK-LABEL: func.func @broadcast_of_several_types
func.func @broadcast_of_several_types(%arg0: tensor<2x3xf32>, %arg1: tensor<3xf32>, %arg2: tensor<?x1x1xi1>) {
  // CHECK: chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %0 = chlo.broadcast_compare %arg0, %arg1 {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: chlo.broadcast_compare %arg1, %arg0 {broadcast_dimensions = array<i64: 1>, compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction NE>} : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = chlo.broadcast_compare %arg1, %arg0 {broadcast_dimensions = array<i64: 1>, compare_type = #chlo<comparison_type TOTALORDER>, comparison_direction = #chlo<comparison_direction NE>} : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: chlo.broadcast_complex %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  %2 = chlo.broadcast_complex %arg0, %arg1 {broadcast_dimensions = array<i64: 1>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xcomplex<f32>>
  // CHECK: chlo.broadcast_select %arg2, %arg0, %arg1 : (tensor<?x1x1xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<?x2x3xf32>
  %3 = chlo.broadcast_select %arg2, %arg0, %arg1 : (tensor<?x1x1xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<?x2x3xf32>
  return
}

// CHECK-LABEL: func.func @complex_constant_like
func.func @complex_constant_like(%arg0: tensor<2xi8>) -> tensor<2xcomplex<f32>> {
  // CHECK: "chlo.constant_like"(%arg0) <{value = #complex.number<:f32 1.000000e+00, -2.000000e+00> : complex<f32>}> : (tensor<2xi8>) -> tensor<2xcomplex<f32>>
  %0 = "chlo.constant_like"(%arg0) <{value = #complex.number<:f32 1.0, -2.0> : complex<f32>}> : (tensor<2xi8>) -> tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}
