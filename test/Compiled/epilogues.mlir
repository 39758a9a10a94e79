// Which kernels are the epilogues of products, and run on their rows while these are in cache.
// RUN: octavo run %s --explain-compile --function rows | FileCheck %s --check-prefix=ROWS
// RUN: octavo run %s --explain-compile --function one_row | FileCheck %s --check-prefix=ROWS
// RUN: octavo run %s --explain-compile --function batch | FileCheck %s --check-prefix=BATCH
// RUN: octavo run %s --explain-compile --function patches | FileCheck %s --check-prefix=PATCHES
// RUN: octavo run %s --explain-compile --function fused | FileCheck %s --check-prefix=FUSED
// RUN: octavo run %s --explain-compile --function gated | FileCheck %s --check-prefix=GATED
// RUN: octavo run %s --explain-compile --function columns | FileCheck %s --check-prefix=COLUMNS
// RUN: octavo run %s --explain-compile --function turned | FileCheck %s --check-prefix=TURNED
// RUN: octavo run %s --explain-compile --function rows --quantize nvfp4 --parameters arg1 --min-size 1 | FileCheck %s --check-prefix=NVFP4
// RUN: octavo run %s --explain-compile --function rows --quantize mxfp4 --activations none --parameters arg1 --min-size 1 | FileCheck %s --check-prefix=MANY
// RUN: octavo run %s --explain-compile --function one_row --quantize mxfp4 --activations none --parameters arg1 --min-size 1 | FileCheck %s --check-prefix=FEW

// ROWS: products    1: 1 f32 x f32, and its epilogue
// ROWS-NOT: chain
func.func @rows(%x: tensor<200x32xf32>, %w: tensor<32x48xf32>) -> tensor<200x48xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<200x32xf32>, tensor<32x48xf32>) -> tensor<200x48xf32>
  %y = stablehlo.tanh %p : tensor<200x48xf32>
  return %y : tensor<200x48xf32>
}

func.func @one_row(%x: tensor<1x32xf32>, %w: tensor<32x48xf32>) -> tensor<1x48xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x32xf32>, tensor<32x48xf32>) -> tensor<1x48xf32>
  %y = stablehlo.tanh %p : tensor<1x48xf32>
  return %y : tensor<1x48xf32>
}

// One outer scale of all activations: they are packed before any row is multiplied.
// NVFP4: products    1: 1 nvfp4 x nvfp4, in integers, and its epilogue
// NVFP4: besides     1 pack

// Rules D6 and D7: one row is multiplied as digits, 200 by the weight's values.
// MANY: products    1: 1 f32 x mxfp4, in f32, and its epilogue
// FEW: products    1: 1 f32 x mxfp4, in integers, and its epilogue

// The kernel's rows are those of all matrices, one below the other.
// BATCH: products    1: 1 f32 x f32, in batches, and its epilogue
// BATCH-NOT: chain
func.func @batch(%q: tensor<4x8x16xf32>, %k: tensor<4x8x16xf32>) -> tensor<4x8x8xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %p = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x8x16xf32>, tensor<4x8x16xf32>) -> tensor<4x8x8xf32>
  %m = stablehlo.reduce(%p init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8x8xf32>
  %y = stablehlo.subtract %p, %b : tensor<4x8x8xf32>
  return %y : tensor<4x8x8xf32>
}

// PATCHES: products    1: 1 f32 x f32, of patches, and its epilogue
func.func @patches(%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32> {
  %p = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x6x6x8xf32>
  %y = stablehlo.tanh %p : tensor<1x6x6x8xf32>
  return %y : tensor<1x6x6x8xf32>
}

// FUSED: products    1: 1 {{.*}}, and its epilogue
// FUSED-NOT: chain
// FUSED: interpreted 0
func.func @fused(%x: tensor<200x32xf8E4M3FN>, %w: tensor<32x48xf8E4M3FN>) -> tensor<200x48xf32> {
  %y = octavo.fused_dot %x, %w : (tensor<200x32xf8E4M3FN>, tensor<32x48xf8E4M3FN>) -> tensor<200x48xf32> {
  ^bb0(%a: tensor<200x32xf8E4M3FN>, %b: tensor<32x48xf8E4M3FN>):
    %p = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<200x32xf8E4M3FN>, tensor<32x48xf8E4M3FN>) -> tensor<200x48xf32>
    %t = stablehlo.tanh %p : tensor<200x48xf32>
    octavo.yield %t : tensor<200x48xf32>
  }
  return %y : tensor<200x48xf32>
}

// The epilogue of the second reads rows of the first, which is done.
// GATED: products    2: 1 f32 x f32; 1 f32 x f32, and its epilogue
func.func @gated(%x: tensor<200x32xf32>, %w: tensor<32x48xf32>, %v: tensor<32x48xf32>) -> tensor<200x48xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<200x32xf32>, tensor<32x48xf32>) -> tensor<200x48xf32>
  %q = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<200x32xf32>, tensor<32x48xf32>) -> tensor<200x48xf32>
  %t = stablehlo.logistic %p : tensor<200x48xf32>
  %y = stablehlo.multiply %t, %q : tensor<200x48xf32>
  return %y : tensor<200x48xf32>
}

// Columns are not known before the last row is, and to lay out and pack the weight is more.
// COLUMNS: products    1: 1 f32 x f32
// COLUMNS-NOT: epilogue
func.func @columns(%x: tensor<40x32xf32>, %w: tensor<32x48xf32>) -> tensor<48x40xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<40x32xf32>, tensor<32x48xf32>) -> tensor<40x48xf32>
  %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<40x48xf32>) -> tensor<48x40xf32>
  %y = stablehlo.tanh %t : tensor<48x40xf32>
  return %y : tensor<48x40xf32>
}

// To lay out the weight, which has fewer elements, is less than to lay out the result.
// TURNED: products    1: 1 f32 x f32, and its epilogue
func.func @turned(%x: tensor<200x32xf32>, %w: tensor<32x48xf32>) -> tensor<48x200xf32> {
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<200x32xf32>, tensor<32x48xf32>) -> tensor<200x48xf32>
  %t = stablehlo.transpose %p, dims = [1, 0] : (tensor<200x48xf32>) -> tensor<48x200xf32>
  %y = stablehlo.tanh %t : tensor<48x200xf32>
  return %y : tensor<48x200xf32>
}
