// RUN: octavo-opt %s -split-input-file -octavo-recover-scaled -canonicalize 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -split-input-file -octavo-recover-scaled -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD
// RUN: not octavo-opt %s -split-input-file -octavo-recover-scaled=fail-on-missed -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAILED
// Forms that JAX does not write, and what is told. test/python/test_recover_scaled.py has JAX's own.

// Two levels of scales above E2M1 (NVFP4); the plain side stays.
// CHECK-LABEL: func.func @two_levels
// CHECK: %[[W:.*]] = octavo.pack %arg0, %{{.*}}, %{{.*}} : {{.*}} -> !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
// CHECK: octavo.dot_general %[[W]], %arg3, contracting_dims = [1] x [0]
// TOLD: remark: {{.*}}layer/dot multiplies f4E2M1FN by f8E4M3FN, block [1, 16], outer f32 x f32
func.func @two_levels(%q: tensor<4x64xf4E2M1FN>, %s: tensor<4x4xf8E4M3FN>, %g: tensor<f32>, %w: tensor<64x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.convert %q : (tensor<4x64xf4E2M1FN>) -> tensor<4x64xf32>
  %1 = stablehlo.convert %s : (tensor<4x4xf8E4M3FN>) -> tensor<4x4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<4x4xf32>) -> tensor<4x4x16xf32>
  %3 = stablehlo.reshape %2 : (tensor<4x4x16xf32>) -> tensor<4x64xf32>
  %4 = stablehlo.multiply %0, %3 : tensor<4x64xf32>
  %5 = stablehlo.broadcast_in_dim %g, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %6 = stablehlo.multiply %5, %4 : tensor<4x64xf32>
  %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("layer/dot")
  return %7 : tensor<4x8xf32>
}

// -----

// XLA's calls: 3 operands, one side without scales; 5, with a scale of the result.
// CHECK-LABEL: func.func @calls
// CHECK: %[[A:.*]] = octavo.pack %arg0, %arg2 : {{.*}} -> !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general %[[A]], %arg3, contracting_dims = [1] x [1]
// CHECK: %[[D:.*]] = octavo.dot_general {{.*}} -> tensor<4x8xbf16>
// CHECK: stablehlo.multiply %[[D]], %{{.*}} : tensor<4x8xbf16>
func.func @calls(%a: tensor<4x64xf8E4M3FN>, %b: tensor<8x64xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>, %w: tensor<8x64xbf16>, %t: tensor<8x2xf8E8M0FNU>, %g: tensor<bf16>) -> (tensor<4x8xbf16>, tensor<4x8xbf16>) {
  %0 = stablehlo.custom_call @__op$block_scaled_dot(%a, %w, %s) : (tensor<4x64xf8E4M3FN>, tensor<8x64xbf16>, tensor<4x2xf8E8M0FNU>) -> tensor<4x8xbf16>
  %1 = stablehlo.custom_call @__op$block_scaled_dot(%a, %b, %s, %t, %g) : (tensor<4x64xf8E4M3FN>, tensor<8x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>, tensor<8x2xf8E8M0FNU>, tensor<bf16>) -> tensor<4x8xbf16>
  return %0, %1 : tensor<4x8xbf16>, tensor<4x8xbf16>
}

// -----

// What XLA's call quantizes, as two results or a tuple, is codes and scales.
// CHECK-LABEL: func.func @quantized
// CHECK: %[[Q:.*]]:2 = stablehlo.custom_call @__op$quantize(%arg0)
// CHECK: octavo.pack %[[Q]]#0, %[[Q]]#1 : {{.*}} -> !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general
// CHECK: %[[T:.*]] = stablehlo.custom_call @__op$quantize(%arg0)
// CHECK: octavo.pack %{{.*}}, %{{.*}} : {{.*}} -> !octavo.scaled<4x64xf8E5M2, scale f8E8M0FNU, block [1, 32]>
// CHECK: octavo.dot_general
func.func @quantized(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0:2 = stablehlo.custom_call @__op$quantize(%x) : (tensor<4x64xf32>) -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
  %1 = stablehlo.custom_call @__op$block_scaled_dot(%0#0, %w, %0#1) : (tensor<4x64xf8E4M3FN>, tensor<8x64xf32>, tensor<4x2xf8E8M0FNU>) -> tensor<4x8xf32>
  %2 = stablehlo.custom_call @__op$quantize(%x) : (tensor<4x64xf32>) -> tuple<tensor<4x64xf8E5M2>, tensor<4x2xf8E8M0FNU>>
  %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<4x64xf8E5M2>, tensor<4x2xf8E8M0FNU>>) -> tensor<4x64xf8E5M2>
  %4 = stablehlo.get_tuple_element %2[1] : (tuple<tensor<4x64xf8E5M2>, tensor<4x2xf8E8M0FNU>>) -> tensor<4x2xf8E8M0FNU>
  %5 = stablehlo.custom_call @__op$dequantize(%3, %4) : (tensor<4x64xf8E5M2>, tensor<4x2xf8E8M0FNU>) -> tensor<4x64xf32>
  %6 = stablehlo.dot_general %5, %w, contracting_dims = [1] x [1] : (tensor<4x64xf32>, tensor<8x64xf32>) -> tensor<4x8xf32>
  return %1, %6 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// XLA's dequantization, and a product that is scaled already.
// CHECK-LABEL: func.func @dequantized
// CHECK: octavo.pack %arg0, %arg1 : {{.*}} -> !octavo.scaled<4x64xf8E5M2, scale f8E8M0FNU, block [1, 16]>
// CHECK-COUNT-2: octavo.dot_general
func.func @dequantized(%q: tensor<4x64xf8E5M2>, %s: tensor<4x4xf8E8M0FNU>, %w: !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, %x: tensor<64x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.custom_call @__op$dequantize(%q, %s) : (tensor<4x64xf8E5M2>, tensor<4x4xf8E8M0FNU>) -> tensor<4x64xf32>
  %1 = stablehlo.dot_general %0, %x, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %2 = octavo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<4x64xf32>, !octavo.scaled<8x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> tensor<4x8xf32>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Scales that divide the extent into no blocks, an algorithm, an f64 product, extents with bounds.
// CHECK-LABEL: func.func @missed
// CHECK-NOT: octavo.
// TOLD: warning: {{.*}}no_blocks multiplies wide values, though narrow ones are behind them: 'stablehlo.custom_call' at call has scales of a shape that fits no block; give as many scales as divide the extent
// TOLD: warning: {{.*}}algorithm multiplies wide values{{.*}}: 'stablehlo.dot_general' at algorithm names an algorithm, which scaled products do not have; leave it out
// TOLD: warning: {{.*}}f64 multiplies wide values{{.*}} has a result of f64; multiply to f32, and convert the result
// TOLD: warning: {{.*}}bounded multiplies wide values{{.*}} has extents that are not known; give the arguments types of known extents, as --octavo-refine-shapes does
// FAILED: error: {{.*}}no_blocks multiplies wide values
func.func @missed(%q: tensor<4x64xf8E4M3FN>, %s: tensor<4x3xf8E8M0FNU>, %w: tensor<64x8xf32>, %v: tensor<64x8xf64>, %o: tensor<?x64xf8E4M3FN, #stablehlo.bounds<4, ?>>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<?x8xf32, #stablehlo.bounds<4, ?>>) {
  %0 = stablehlo.custom_call @__op$dequantize(%q, %s) : (tensor<4x64xf8E4M3FN>, tensor<4x3xf8E8M0FNU>) -> tensor<4x64xf32> loc("call")
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("no_blocks")
  %2 = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %3 = "stablehlo.dot_general"(%2, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, algorithm = #stablehlo.dot_algorithm<lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>} : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("algorithm")
  %4 = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf64>
  %5 = stablehlo.dot_general %4, %v, contracting_dims = [1] x [0] : (tensor<4x64xf64>, tensor<64x8xf64>) -> tensor<4x8xf64> loc("f64")
  %6 = stablehlo.convert %o : (tensor<?x64xf8E4M3FN, #stablehlo.bounds<4, ?>>) -> tensor<?x64xf32, #stablehlo.bounds<4, ?>>
  %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<?x64xf32, #stablehlo.bounds<4, ?>>, tensor<64x8xf32>) -> tensor<?x8xf32, #stablehlo.bounds<4, ?>> loc("bounded")
  return %1, %3, %5, %7 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf64>, tensor<?x8xf32, #stablehlo.bounds<4, ?>>
}

// -----

// A layout on a mesh holds for codes, and for scales where each part has whole blocks: 4 rows have
// a scale each, 2 blocks are not cut into 4, what is one scale for all lies along no axis.
// CHECK-LABEL: func.func @laid_out
// CHECK: sdy.sharding_constraint %arg0 <@mesh, [{"i"}, {}]> : tensor<4x64xf8E4M3FN>
// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"i"}, {}]> : tensor<4x2xf32>
// CHECK: octavo.dot_general
// CHECK: sdy.sharding_constraint %arg0 <@mesh, [{}, {"i"}]> : tensor<4x64xf8E4M3FN>
// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}]> : tensor<4x2xf32>
// CHECK: octavo.dot_general
// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{}, {}]> : tensor<1x1xf32>
// CHECK: octavo.dot_general
// CHECK: sdy.sharding_constraint %{{.*}} <@mesh, [{"i"}, {}]> : tensor<4x1xf32>
// CHECK: octavo.dot_general
sdy.mesh @mesh = <["i"=4]>
func.func @laid_out(%q: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xf32>, %t: tensor<f32>, %r: tensor<4xf32>, %w: tensor<64x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %1 = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<4x2xf32>) -> tensor<4x2x32xf32>
  %2 = stablehlo.reshape %1 : (tensor<4x2x32xf32>) -> tensor<4x64xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<4x64xf32>
  %4 = sdy.sharding_constraint %3 <@mesh, [{"i"}, {}]> : tensor<4x64xf32>
  %5 = stablehlo.dot_general %4, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %6 = sdy.sharding_constraint %3 <@mesh, [{}, {"i"}]> : tensor<4x64xf32>
  %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %8 = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %9 = stablehlo.multiply %0, %8 : tensor<4x64xf32>
  %10 = sdy.sharding_constraint %9 <@mesh, [{}, {"i"}]> : tensor<4x64xf32>
  %11 = stablehlo.dot_general %10, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  // The repeated scale itself.
  %12 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
  %13 = sdy.sharding_constraint %12 <@mesh, [{"i"}, {}]> : tensor<4x64xf32>
  %14 = stablehlo.multiply %0, %13 : tensor<4x64xf32>
  %15 = stablehlo.dot_general %14, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  return %5, %7, %11, %15 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// What stands in the way of one side is told, and the other is a scaled tensor all the same: also
// of a product that has been one before.
// CHECK-LABEL: func.func @one_side
// CHECK: octavo.dot_general %{{.*}}, %[[W:.*]], contracting_dims = [1] x [0]
// CHECK: octavo.dot_general %{{.*}}, %{{.*}}, contracting_dims = [1] x [0]
// CHECK-NOT: stablehlo.dot_general
// TOLD: remark: {{.*}}half multiplies f32 x f8E4M3FN by f32, block [64, 8]
// TOLD: warning: {{.*}}half multiplies wide values on one side, though narrow ones are behind them: 'stablehlo.add' at sum stands between the scale and the dot
// TOLD: warning: {{.*}}before multiplies wide values on one side, though narrow ones are behind them: 'stablehlo.add' at sum stands between the scale and the dot
// FAILED: error: {{.*}}half multiplies wide values on one side
func.func @one_side(%q: tensor<4x64xf8E4M3FN>, %x: tensor<4x64xf32>, %w: tensor<64x8xf8E4M3FN>, %s: !octavo.scaled<64x8xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %1 = stablehlo.add %0, %x : tensor<4x64xf32> loc("sum")
  %2 = stablehlo.convert %w : (tensor<64x8xf8E4M3FN>) -> tensor<64x8xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("half")
  %4 = octavo.dot_general %1, %s, contracting_dims = [1] x [0] : (tensor<4x64xf32>, !octavo.scaled<64x8xf8E4M3FN, scale f8E8M0FNU, block [32, 1]>) -> tensor<4x8xf32> loc("before")
  return %3, %4 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// A zero that a program chooses or pads with keeps its sign, where the codes have it.
// CHECK-LABEL: func.func @negative_zeros
// CHECK-DAG: %[[LESS:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<4x64xf8E4M3FN>
// CHECK-DAG: %[[ZERO:.*]] = stablehlo.constant dense<-0.000000e+00> : tensor<f8E4M3FN>
// CHECK: stablehlo.select %arg3, %arg0, %[[LESS]] : tensor<4x64xi1>, tensor<4x64xf8E4M3FN>
// CHECK: stablehlo.pad %arg0, %[[ZERO]], low = [0, 0], high = [1, 0]
// CHECK: stablehlo.select %arg3, %{{.*}}, %{{.*}} : tensor<4x64xi1>, tensor<4x64xf32>
// TOLD: warning: {{.*}}without multiplies wide values, {{.*}} 'stablehlo.select' at sign chooses between codes and values that are not 0
func.func @negative_zeros(%q: tensor<4x64xf8E4M3FN>, %z: tensor<4x64xf8E4M3FNUZ>, %w: tensor<64x8xf32>, %m: tensor<4x64xi1>) -> (tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>) {
  %less = stablehlo.constant dense<-0.0> : tensor<f32>
  %all = stablehlo.broadcast_in_dim %less, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %0 = stablehlo.convert %q : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %1 = stablehlo.select %m, %0, %all : tensor<4x64xi1>, tensor<4x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.pad %0, %less, low = [0, 0], high = [1, 0], interior = [0, 0] : (tensor<4x64xf32>, tensor<f32>) -> tensor<5x64xf32>
  %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<5x64xf32>, tensor<64x8xf32>) -> tensor<5x8xf32>
  %5 = stablehlo.convert %z : (tensor<4x64xf8E4M3FNUZ>) -> tensor<4x64xf32>
  %6 = stablehlo.select %m, %5, %all : tensor<4x64xi1>, tensor<4x64xf32> loc("sign")
  %7 = stablehlo.dot_general %6, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32> loc("without")
  return %2, %4, %7 : tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x8xf32>
}

// -----

// The same of codes in ui8.
// CHECK-LABEL: func.func @negative_zeros_of_cfloat8
// CHECK: %[[LESS:.*]] = stablehlo.constant dense<128> : tensor<4x64xui8>
// CHECK: stablehlo.select %arg3, %arg0, %[[LESS]] : tensor<4x64xi1>, tensor<4x64xui8>
func.func @negative_zeros_of_cfloat8(%q: tensor<4x64xui8>, %s: tensor<1x1xf8E8M0FNU>, %w: tensor<64x8xf32>, %m: tensor<4x64xi1>) -> tensor<4x8xf32> {
  %less = stablehlo.constant dense<-0.0> : tensor<4x64xf32>
  %0 = octavo.pack %q, %s : (tensor<4x64xui8>, tensor<1x1xf8E8M0FNU>) -> !octavo.scaled<4x64xcfloat8_1_4_3, scale f8E8M0FNU, block [4, 64]>
  %1 = octavo.dequantize %0 : !octavo.scaled<4x64xcfloat8_1_4_3, scale f8E8M0FNU, block [4, 64]> -> tensor<4x64xf32>
  %2 = stablehlo.select %m, %1, %less : tensor<4x64xi1>, tensor<4x64xf32>
  %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}
