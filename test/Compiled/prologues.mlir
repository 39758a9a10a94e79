// Which kernels are the prologues of products in batches: what they make is multiplied a few rows at a time, and is
// nowhere as a whole.
// RUN: octavo run %s --explain-compile --function keys | FileCheck %s --check-prefix=ONE
// RUN: octavo run %s --explain-compile --function values | FileCheck %s --check-prefix=ONE
// RUN: octavo run %s --explain-compile --function halves | FileCheck %s --check-prefix=ONE
// RUN: octavo run %s --explain-compile --function attention | FileCheck %s --check-prefix=BOTH
// RUN: octavo run %s --explain-compile --function read_twice | FileCheck %s --check-prefix=NONE
// RUN: octavo run %s --explain-compile --function shared | FileCheck %s --check-prefix=ONE
// RUN: octavo run %s --explain-compile --function between_heads | FileCheck %s --check-prefix=ONE
// RUN: octavo run %s --explain-compile --function narrows | FileCheck %s --check-prefix=NONE

// ONE: products    1: 1 f32 x f32, in batches, with a prologue
// ONE: memory        arena 0 bytes
func.func @keys(%query: tensor<4x1x64xf32>, %codes: tensor<4x96x64xf8E4M3FN>) -> tensor<4x1x96xf32> {
  %k = stablehlo.convert %codes : (tensor<4x96x64xf8E4M3FN>) -> tensor<4x96x64xf32>
  %s = stablehlo.dot_general %query, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x64xf32>, tensor<4x96x64xf32>) -> tensor<4x1x96xf32>
  return %s : tensor<4x1x96xf32>
}

func.func @values(%shares: tensor<4x1x96xf32>, %codes: tensor<4x96x64xf8E4M3FN>) -> tensor<4x1x64xf32> {
  %v = stablehlo.convert %codes : (tensor<4x96x64xf8E4M3FN>) -> tensor<4x96x64xf32>
  %c = stablehlo.dot_general %shares, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1x96xf32>, tensor<4x96x64xf32>) -> tensor<4x1x64xf32>
  return %c : tensor<4x1x64xf32>
}

func.func @halves(%query: tensor<4x3x64xf32>, %cache: tensor<4x96x64xf16>) -> tensor<4x3x96xf32> {
  %k = stablehlo.convert %cache : (tensor<4x96x64xf16>) -> tensor<4x96x64xf32>
  %s = stablehlo.dot_general %query, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x3x64xf32>, tensor<4x96x64xf32>) -> tensor<4x3x96xf32>
  return %s : tensor<4x3x96xf32>
}

// Codes under scales of blocks of 32: the arena has the scales as f32, 3072 bytes twice, and no values, which were 98304.
// BOTH: products    2: 1 f32 x f32, in batches, with a prologue, and its epilogue; 1 f32 x f32, in batches, with a prologue
// BOTH: memory        arena 6.1 kB
func.func @attention(%query: tensor<4x1x64xf32>, %keys: tensor<4x96x64xf8E4M3FN>, %ks: tensor<4x96x2xf8E8M0FNU>, %values: tensor<4x96x64xf4E2M1FN>, %vs: tensor<4x96x2xf8E8M0FNU>) -> tensor<4x1x64xf32> {
  %k0 = stablehlo.convert %keys : (tensor<4x96x64xf8E4M3FN>) -> tensor<4x96x64xf32>
  %k1 = stablehlo.reshape %k0 : (tensor<4x96x64xf32>) -> tensor<4x96x2x32xf32>
  %k2 = stablehlo.convert %ks : (tensor<4x96x2xf8E8M0FNU>) -> tensor<4x96x2xf32>
  %k3 = stablehlo.broadcast_in_dim %k2, dims = [0, 1, 2] : (tensor<4x96x2xf32>) -> tensor<4x96x2x32xf32>
  %k4 = stablehlo.multiply %k1, %k3 : tensor<4x96x2x32xf32>
  %k = stablehlo.reshape %k4 : (tensor<4x96x2x32xf32>) -> tensor<4x96x64xf32>
  %v0 = stablehlo.convert %values : (tensor<4x96x64xf4E2M1FN>) -> tensor<4x96x64xf32>
  %v1 = stablehlo.reshape %v0 : (tensor<4x96x64xf32>) -> tensor<4x96x2x32xf32>
  %v2 = stablehlo.convert %vs : (tensor<4x96x2xf8E8M0FNU>) -> tensor<4x96x2xf32>
  %v3 = stablehlo.broadcast_in_dim %v2, dims = [0, 1, 2] : (tensor<4x96x2xf32>) -> tensor<4x96x2x32xf32>
  %v4 = stablehlo.multiply %v1, %v3 : tensor<4x96x2x32xf32>
  %v = stablehlo.reshape %v4 : (tensor<4x96x2x32xf32>) -> tensor<4x96x64xf32>
  %s = stablehlo.dot_general %query, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x64xf32>, tensor<4x96x64xf32>) -> tensor<4x1x96xf32>
  %p = stablehlo.logistic %s : tensor<4x1x96xf32>
  %c = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1x96xf32>, tensor<4x96x64xf32>) -> tensor<4x1x64xf32>
  return %c : tensor<4x1x64xf32>
}

// NONE-NOT: with a prologue
// NONE: memory
func.func @read_twice(%query: tensor<4x1x64xf32>, %codes: tensor<4x96x64xf8E4M3FN>) -> (tensor<4x1x96xf32>, tensor<4x96x64xf32>) {
  %k = stablehlo.convert %codes : (tensor<4x96x64xf8E4M3FN>) -> tensor<4x96x64xf32>
  %s = stablehlo.dot_general %query, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x64xf32>, tensor<4x96x64xf32>) -> tensor<4x1x96xf32>
  return %s, %k : tensor<4x1x96xf32>, tensor<4x96x64xf32>
}

// Two heads of queries to one of the cache are a product of two rows, for which it is made once.
func.func @shared(%query: tensor<8x1x64xf32>, %codes: tensor<4x96x64xf8E4M3FN>) -> tensor<8x1x96xf32> {
  %k = stablehlo.convert %codes : (tensor<4x96x64xf8E4M3FN>) -> tensor<4x96x64xf32>
  %b = stablehlo.broadcast_in_dim %k, dims = [0, 2, 3] : (tensor<4x96x64xf32>) -> tensor<4x2x96x64xf32>
  %q = stablehlo.reshape %query : (tensor<8x1x64xf32>) -> tensor<4x2x1x64xf32>
  %s = stablehlo.dot_general %q, %b, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<4x2x1x64xf32>, tensor<4x2x96x64xf32>) -> tensor<4x2x1x96xf32>
  %r = stablehlo.reshape %s : (tensor<4x2x1x96xf32>) -> tensor<8x1x96xf32>
  return %r : tensor<8x1x96xf32>
}

// A row of one head lies beside those of the others.
func.func @between_heads(%query: tensor<4x1x64xf32>, %codes: tensor<96x4x64xf8E4M3FN>) -> tensor<4x1x96xf32> {
  %k = stablehlo.convert %codes : (tensor<96x4x64xf8E4M3FN>) -> tensor<96x4x64xf32>
  %s = stablehlo.dot_general %query, %k, batching_dims = [0] x [1], contracting_dims = [2] x [2] : (tensor<4x1x64xf32>, tensor<96x4x64xf32>) -> tensor<4x1x96xf32>
  return %s : tensor<4x1x96xf32>
}

func.func @narrows(%query: tensor<4x1x64xf32>, %values: tensor<4x96x64xf32>) -> tensor<4x1x96xf32> {
  %k = stablehlo.tanh %values : tensor<4x96x64xf32>
  %s = stablehlo.dot_general %query, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x64xf32>, tensor<4x96x64xf32>) -> tensor<4x1x96xf32>
  return %s : tensor<4x1x96xf32>
}
