// Extents that are unknown or bounded, and quantized elements, in every family that takes them.
// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s -mlir-print-op-generic | octavo-opt | FileCheck %s

// CHECK-LABEL: func.func @bounds
// CHECK-SAME: (%arg0: tensor<?x?x3xf32, #stablehlo.bounds<4, ?, ?>>, %arg1: tensor<?xf32, #stablehlo.bounds<5>>)
func.func @bounds(%x: tensor<?x?x3xf32, #stablehlo.bounds<4, ?, ?>>,
                  %y: tensor<?xf32, #stablehlo.type_extensions<bounds = [5]>>) {
  // CHECK: stablehlo.negate %arg0 : tensor<?x?x3xf32, #stablehlo.bounds<4, ?, ?>>
  %0 = stablehlo.negate %x : tensor<?x?x3xf32, #stablehlo.bounds<4, ?, ?>>
  // CHECK: stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<?x?x3xf32, #stablehlo.bounds<4, ?, ?>>) -> tensor<3x?x?xf32, #stablehlo.bounds<?, 4, ?>>
  %1 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<?x?x3xf32, #stablehlo.bounds<4, ?, ?>>) -> tensor<3x?x?xf32, #stablehlo.bounds<?, 4, ?>>
  // CHECK: stablehlo.concatenate %arg1, %arg1, dim = 0 : (tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<?xf32, #stablehlo.bounds<10>>
  %2 = stablehlo.concatenate %y, %y, dim = 0 : (tensor<?xf32, #stablehlo.bounds<5>>, tensor<?xf32, #stablehlo.bounds<5>>) -> tensor<?xf32, #stablehlo.bounds<10>>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // The bound 5 becomes 1 + 5 + 4 * 2 + 0 = 14.
  // CHECK: stablehlo.pad %arg1, {{.*}} -> tensor<?xf32, #stablehlo.bounds<14>>
  %3 = stablehlo.pad %y, %z, low = [1], high = [0], interior = [2] : (tensor<?xf32, #stablehlo.bounds<5>>, tensor<f32>) -> tensor<?xf32, #stablehlo.bounds<14>>
  return
}

// CHECK-LABEL: func.func @unknown
func.func @unknown(%x: tensor<?x3xf32>, %y: tensor<2x3xf32>, %i: tensor<?x1xi32>, %p: tensor<?x3xi1>) -> tensor<2x3xf32> {
  // Unknown and known extents meet; a result may know more than its operands.
  // CHECK: stablehlo.add %arg0, %arg1 : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %0 = stablehlo.add %x, %y : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.compare LT, %arg0, %arg1 : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = stablehlo.compare LT, %x, %y : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: stablehlo.select %arg3, %arg0, %arg1 : (tensor<?x3xi1>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = stablehlo.select %p, %x, %y : (tensor<?x3xi1>, tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.slice %arg0 [0:2, 1:3] : (tensor<?x3xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.slice %x [0:2, 1:3] : (tensor<?x3xf32>) -> tensor<2x2xf32>
  // CHECK: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x2xf32>
  %4 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [1] : (tensor<?x3xf32>, tensor<2x3xf32>) -> tensor<?x2xf32>
  // CHECK: "stablehlo.gather"(%arg1, %arg2) {{.*}} -> tensor<?x3xf32>
  %5 = "stablehlo.gather"(%y, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>} : (tensor<2x3xf32>, tensor<?x1xi32>) -> tensor<?x3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
  %6 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<?x3xf32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<2x3xf32>
}
