// What --explain-compile says of a program whose steps can be counted by hand.
// RUN: octavo run %s --backend compiled --explain-compile --function main | FileCheck %s
// RUN: octavo run %s --backend compiled --explain-compile --function main --json | FileCheck %s --check-prefix=JSON
// RUN: octavo run %s --backend compiled --explain-compile --function whole | FileCheck %s --check-prefix=WHOLE
// RUN: octavo run %s --backend reference --explain-compile --function main | FileCheck %s --check-prefix=REFERENCE

// The dot packs its argument on the right, 8 x 16 values of f32, once. The addition and the
// exponential are one kernel, its epilogue; the other addition has the same code but for its type. The constant
// and the broadcast are nobody's steps.

// CHECK:      program       {{.*}}explain.mlir @main
// CHECK-NEXT: compiled      8 operations after the passes
// CHECK-NEXT:   kernels     3 operations in 2 kernels, 2 of them different
// CHECK-NEXT:   products    1: 1 f32 x f32, and its epilogue
// CHECK-NEXT:   in place    2 operations: views, constants, and what has no use
// CHECK-NEXT:   interpreted 2 operations
// CHECK-NEXT: memory        arena {{.*}}, constants 0 bytes, 1 weight packed once, 512 bytes
// CHECK-EMPTY:
// CHECK-NEXT: count interpreted why where
// CHECK-NEXT: 1 chlo.digamma kernels have no code for it {{.*}}explain.mlir:[[#@LINE+21]]:8
// CHECK-NEXT: 1 stablehlo.bitcast_convert kernels have no code for it on elements of type f32 {{.*}}explain.mlir:[[#@LINE+22]]:8

// JSON:      "compiled": true
// JSON-NEXT: "operations": 8
// JSON:      "what": "f32 x f32, and its epilogue"
// JSON-NEXT: "count": 1
// JSON:      "packed_weights"
// JSON-NEXT:   "count": 1
// JSON-NEXT:   "bytes": 512

// WHOLE: interpreted   as a whole: {{.*}}'stablehlo.scatter': its regions use values from around it
// REFERENCE: interpreted   as a whole: the backend is the interpreter

func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x16xf32>, %n: tensor<4x16xbf16>, %c: tensor<3xf32>)
    -> (tensor<4x16xf32>, tensor<4x16xbf16>, tensor<3x4xi8>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %ones = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x16xf32>) -> tensor<4x16xf32>
  %a = stablehlo.add %p, %ones : tensor<4x16xf32>
  %e = stablehlo.exponential %a : tensor<4x16xf32>
  %s = chlo.digamma %e : tensor<4x16xf32> -> tensor<4x16xf32>
  %b = stablehlo.add %n, %n : tensor<4x16xbf16>
  %m = stablehlo.bitcast_convert %c : (tensor<3xf32>) -> tensor<3x4xi8>
  return %s, %b, %m : tensor<4x16xf32>, tensor<4x16xbf16>, tensor<3x4xi8>
}

func.func @whole(%x: tensor<4xf32>, %u: tensor<2xf32>, %i: tensor<2x1xi32>, %sign: tensor<f32>) -> tensor<4xf32> {
  %s = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%l: tensor<f32>, %r: tensor<f32>):
    %d = chlo.digamma %r : tensor<f32> -> tensor<f32>
    %a = stablehlo.multiply %d, %sign : tensor<f32>
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<4xf32>
  return %s : tensor<4xf32>
}
