// RUN: octavo-opt %s -split-input-file --octavo-recover-scaled 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -split-input-file --octavo-recover-scaled 2>&1 >/dev/null | FileCheck %s --check-prefix=TOLD

// Scales of an open axis: one for each index are broadcast as the program does it, be there as many or one; a block that
// spans the axis has one, and none where there is no index.
// CHECK-LABEL: func.func @rows
// CHECK: %[[SHAPE:.*]] = stablehlo.concatenate %arg2, %{{.*}}, dim = 0
// CHECK: %[[SCALES:.*]] = stablehlo.dynamic_broadcast_in_dim %arg1, %{{.*}}, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x1xf32>
// CHECK: octavo.pack %arg0, %[[SCALES]] : {{.*}} -> !octavo.scaled<?x64xf8E4M3FN, scale f32, block [1, 64]>
// CHECK-LABEL: func.func @rows_of_i64
// CHECK: stablehlo.slice %arg2 [0:1] : (tensor<2xi64>) -> tensor<1xi64>
// CHECK: !octavo.scaled<?x64xf8E4M3FN, scale f32, block [1, 64]>
// CHECK-LABEL: func.func @whole
// CHECK: %[[N:.*]] = stablehlo.get_dimension_size %arg0, dim = 0
// CHECK: stablehlo.minimum
// CHECK: octavo.pack %arg0, %{{.*}} : (tensor<?x64xf8E4M3FN>, tensor<?x1xf32>) -> !octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>
// CHECK-LABEL: func.func @no_scales
// CHECK: !octavo.scaled<?x0xf8E4M3FN, scale f32, block [?, 1]>
func.func @rows(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %n: tensor<1xi32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %k = stablehlo.constant dense<64> : tensor<1xi32>
  %shape = stablehlo.concatenate %n, %k, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x64xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
func.func @rows_of_i64(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %shape: tensor<2xi64>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x64xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
func.func @whole(%q: tensor<?x64xf8E4M3FN>, %s: tensor<f32>, %shape: tensor<2xi32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x64xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
func.func @no_scales(%q: tensor<?x0xf8E4M3FN>, %w: tensor<0x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.convert %q : (tensor<?x0xf8E4M3FN>) -> tensor<?x0xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<?x0xf32>, tensor<0x8xf32>) -> tensor<?x8xf32>
  return %1 : tensor<?x8xf32>
}

// -----

// Reshapes: what is known before and behind the open axes is as much on either side, so what is between is, too.
// CHECK-LABEL: func.func @merged
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<?x64xf8E4M3FN, scale f32, block [1, 32]>
// CHECK-LABEL: func.func @split
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<?x?x4x16xf8E4M3FN, scale f32, block [1, 1, 2, 16]>
// One scale for all rows of a sequence is one of each.
// CHECK-LABEL: func.func @scales_of_sequences
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<?x64xf8E4M3FN, scale f32, block [1, 64]>
// CHECK-LABEL: func.func @scales_of_places
// CHECK-NOT: octavo.
// TOLD: remark: {{.*}}merged multiplies f8E4M3FN by f32, block [1, 32] x f32
// TOLD: remark: {{.*}}split multiplies f8E4M3FN by f32, block [1, 1, 2, 16] x f32
// TOLD: remark: {{.*}}sequences multiplies f8E4M3FN by f32, block [1, 64] x f32
// TOLD: warning: {{.*}}flat multiplies wide values{{.*}}: 'stablehlo.dynamic_reshape' at reshape has open extents, of which blocks are not known to stay whole; give each row its scale, or the arguments types of known extents
func.func @merged(%q: tensor<?x?x2x32xf8E4M3FN>, %s: tensor<?x?x2xf32>, %four: tensor<4xi32>, %two: tensor<2xi32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %four, dims = [0, 1, 2] : (tensor<?x?x2xf32>, tensor<4xi32>) -> tensor<?x?x2x32xf32>
  %1 = stablehlo.convert %q : (tensor<?x?x2x32xf8E4M3FN>) -> tensor<?x?x2x32xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x?x2x32xf32>
  %3 = stablehlo.dynamic_reshape %2, %two : (tensor<?x?x2x32xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32> loc("merged")
  return %4 : tensor<?x8xf32>
}
func.func @split(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf32>, %three: tensor<3xi32>, %two: tensor<2xi32>, %four: tensor<4xi32>, %w: tensor<16x8xf32>) -> tensor<?x?x4x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %three, dims = [0, 1] : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<?x2x32xf32>
  %1 = stablehlo.dynamic_reshape %0, %two : (tensor<?x2x32xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %2 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<?x64xf32>
  %4 = stablehlo.dynamic_reshape %3, %four : (tensor<?x64xf32>, tensor<4xi32>) -> tensor<?x?x4x16xf32>
  %5 = stablehlo.dot_general %4, %w, contracting_dims = [3] x [0] : (tensor<?x?x4x16xf32>, tensor<16x8xf32>) -> tensor<?x?x4x8xf32> loc("split")
  return %5 : tensor<?x?x4x8xf32>
}
func.func @scales_of_sequences(%q: tensor<?x?x64xf8E4M3FN>, %s: tensor<?xf32>, %three: tensor<3xi32>, %two: tensor<2xi32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %three, dims = [0] : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x?x64xf8E4M3FN>) -> tensor<?x?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x?x64xf32>
  %3 = stablehlo.dynamic_reshape %2, %two : (tensor<?x?x64xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32> loc("sequences")
  return %4 : tensor<?x8xf32>
}
func.func @scales_of_places(%q: tensor<?x?x64xf8E4M3FN>, %s: tensor<?xf32>, %three: tensor<3xi32>, %two: tensor<2xi32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %three, dims = [1] : (tensor<?xf32>, tensor<3xi32>) -> tensor<?x?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x?x64xf8E4M3FN>) -> tensor<?x?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x?x64xf32>
  %3 = stablehlo.dynamic_reshape %2, %two : (tensor<?x?x64xf32>, tensor<2xi32>) -> tensor<?x64xf32> loc("reshape")
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32> loc("flat")
  return %4 : tensor<?x8xf32>
}

// -----

// Slices whose places are operands: of an axis with a scale for each index they are the scales', of blocks they must be known.
// CHECK-LABEL: func.func @sliced
// CHECK: stablehlo.real_dynamic_slice %{{.*}} : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x1xf32>
// CHECK: octavo.pack {{.*}} -> !octavo.scaled<?x32xf8E4M3FN, scale f32, block [1, 32]>
// CHECK-LABEL: func.func @within_blocks
// CHECK-NOT: octavo.
// TOLD: warning: {{.*}}within multiplies wide values{{.*}}: 'stablehlo.real_dynamic_slice' at slice has open extents, of which blocks are not known to stay whole
func.func @sliced(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf32>, %three: tensor<3xi32>, %two: tensor<2xi32>, %from: tensor<1xi32>, %to: tensor<1xi32>, %w: tensor<32x8xf32>) -> tensor<?x8xf32> {
  %c32 = stablehlo.constant dense<32> : tensor<1xi32>
  %c64 = stablehlo.constant dense<64> : tensor<1xi32>
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %three, dims = [0, 1] : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<?x2x32xf32>
  %1 = stablehlo.dynamic_reshape %0, %two : (tensor<?x2x32xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %2 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<?x64xf32>
  %begin = stablehlo.concatenate %from, %c32, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %end = stablehlo.concatenate %to, %c64, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %4 = stablehlo.real_dynamic_slice %3, %begin, %end, %one : (tensor<?x64xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x32xf32>
  %5 = stablehlo.dot_general %4, %w, contracting_dims = [1] x [0] : (tensor<?x32xf32>, tensor<32x8xf32>) -> tensor<?x8xf32>
  return %5 : tensor<?x8xf32>
}
func.func @within_blocks(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?x2xf32>, %three: tensor<3xi32>, %two: tensor<2xi32>, %begin: tensor<2xi32>, %end: tensor<2xi32>, %w: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %three, dims = [0, 1] : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<?x2x32xf32>
  %1 = stablehlo.dynamic_reshape %0, %two : (tensor<?x2x32xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %2 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<?x64xf32>
  %4 = stablehlo.real_dynamic_slice %3, %begin, %end, %one : (tensor<?x64xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32> loc("slice")
  %5 = stablehlo.dot_general %4, %w, contracting_dims = [1] x [0] : (tensor<?x?xf32>, tensor<?x8xf32>) -> tensor<?x8xf32> loc("within")
  return %5 : tensor<?x8xf32>
}

// -----

// Which sizes codes have says nothing of what is computed with them; a size of index is not read; parts are not written
// into others under scales of unknown places.
// CHECK-LABEL: func.func @sizes_of_codes
// CHECK-NOT: octavo.
// TOLD-NOT: sized
// CHECK-LABEL: func.func @index
// CHECK-NOT: octavo.
// TOLD: warning: {{.*}}'stablehlo.multiply' at product multiplies by a tensor that is no broadcast of fewer scales
// CHECK-LABEL: func.func @written
// CHECK-NOT: octavo.
// TOLD: warning: {{.*}}'stablehlo.dynamic_update_slice' at write writes values of another format or other blocks
func.func @sizes_of_codes(%q: tensor<?x64xf8E4M3FN>, %x: tensor<1x64xf32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %n = stablehlo.get_dimension_size %q, dim = 0 : (tensor<?x64xf8E4M3FN>) -> tensor<i32>
  %0 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %k = stablehlo.constant dense<64> : tensor<1xi32>
  %shape = stablehlo.concatenate %0, %k, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %shape, dims = [0, 1] : (tensor<1x64xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32> loc("sized")
  return %2 : tensor<?x8xf32>
}
func.func @index(%q: tensor<?x64xf8E4M3FN>, %s: tensor<?xf32>, %shape: tensor<2xindex>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x64xf32> loc("product")
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %3 : tensor<?x8xf32>
}
func.func @written(%q: tensor<?x64xf8E4M3FN>, %s: tensor<f32>, %r: tensor<?x64xf8E4M3FN>, %t: tensor<f32>, %shape: tensor<2xi32>, %other: tensor<2xi32>, %i: tensor<i32>, %w: tensor<64x8xf32>) -> tensor<?x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x64xf32>
  %1 = stablehlo.convert %q : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<?x64xf32>
  %3 = stablehlo.dynamic_broadcast_in_dim %t, %other, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x64xf32>
  %4 = stablehlo.convert %r : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %5 = stablehlo.multiply %4, %3 : tensor<?x64xf32>
  %6 = stablehlo.dynamic_update_slice %2, %5, %i, %i : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<i32>, tensor<i32>) -> tensor<?x64xf32> loc("write")
  %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32>, tensor<64x8xf32>) -> tensor<?x8xf32>
  return %7 : tensor<?x8xf32>
}
