// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt --mlir-print-op-generic %s | octavo-opt | FileCheck %s

// CHECK-LABEL: func @unary
func.func @unary(%x: tensor<2x3xf32>, %b: tensor<4xi1>, %z: tensor<2xcomplex<f32>>) {
  // CHECK: %{{.*}} = stablehlo.cbrt %arg0 : tensor<2x3xf32>
  %0 = "stablehlo.cbrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.ceil %arg0 : tensor<2x3xf32>
  %1 = stablehlo.ceil %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.cosine %arg0 : tensor<2x3xf32>
  %2 = "stablehlo.cosine"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.exponential %arg0 : tensor<2x3xf32>
  %3 = stablehlo.exponential %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.exponential_minus_one %arg0 : tensor<2x3xf32>
  %4 = "stablehlo.exponential_minus_one"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.floor %arg0 : tensor<2x3xf32>
  %5 = stablehlo.floor %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.log %arg0 : tensor<2x3xf32>
  %6 = "stablehlo.log"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.log_plus_one %arg0 : tensor<2x3xf32>
  %7 = stablehlo.log_plus_one %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.logistic %arg0 : tensor<2x3xf32>
  %8 = "stablehlo.logistic"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.negate %arg0 : tensor<2x3xf32>
  %9 = stablehlo.negate %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.round_nearest_afz %arg0 : tensor<2x3xf32>
  %10 = "stablehlo.round_nearest_afz"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.round_nearest_even %arg0 : tensor<2x3xf32>
  %11 = stablehlo.round_nearest_even %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.rsqrt %arg0 : tensor<2x3xf32>
  %12 = "stablehlo.rsqrt"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.sign %arg0 : tensor<2x3xf32>
  %13 = stablehlo.sign %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.sine %arg0 : tensor<2x3xf32>
  %14 = "stablehlo.sine"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.sqrt %arg0 : tensor<2x3xf32>
  %15 = stablehlo.sqrt %x : tensor<2x3xf32>
  // CHECK: %{{.*}} = stablehlo.tanh %arg0 : tensor<2x3xf32>
  %16 = "stablehlo.tanh"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.not %arg1 : tensor<4xi1>
  %not = "stablehlo.not"(%b) : (tensor<4xi1>) -> tensor<4xi1>
  // CHECK: stablehlo.abs %arg0 : tensor<2x3xf32>
  %abs = stablehlo.abs %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.abs %arg2 : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  %abs_complex = stablehlo.abs %z : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  // CHECK: stablehlo.is_finite %arg0 : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %finite = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}

// CHECK-LABEL: func @binary
func.func @binary(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %i: tensor<4xui4>) {
  // CHECK: stablehlo.add %arg0, %arg1 : tensor<2x3xf32>
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.divide %arg0, %arg1 {foo.bar} : tensor<2x3xf32>
  %1 = stablehlo.divide %x, %y {foo.bar} : tensor<2x3xf32>
  // CHECK: stablehlo.maximum %arg0, %arg1 : tensor<2x3xf32>
  %2 = "stablehlo.maximum"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.minimum %arg0, %arg1 : tensor<2x3xf32>
  %3 = stablehlo.minimum %x, %y : tensor<2x3xf32>
  // CHECK: stablehlo.multiply %arg0, %arg1 : tensor<2x3xf32>
  %4 = "stablehlo.multiply"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.power %arg0, %arg1 : tensor<2x3xf32>
  %5 = stablehlo.power %x, %y : tensor<2x3xf32>
  // CHECK: stablehlo.remainder %arg0, %arg1 : tensor<2x3xf32>
  %6 = "stablehlo.remainder"(%x, %y) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: stablehlo.subtract %arg0, %arg1 : tensor<2x3xf32>
  %7 = stablehlo.subtract %x, %y : tensor<2x3xf32>
  // CHECK: stablehlo.and %arg2, %arg2 : tensor<4xui4>
  %and = stablehlo.and %i, %i : tensor<4xui4>
  // CHECK: stablehlo.or %arg2, %arg2 : tensor<4xui4>
  %or = stablehlo.or %i, %i : tensor<4xui4>
  // CHECK: stablehlo.xor %arg2, %arg2 : tensor<4xui4>
  %xor = stablehlo.xor %i, %i : tensor<4xui4>
  return
}

// CHECK-LABEL: func @compare
func.func @compare(%x: tensor<2xf32>, %i: tensor<2xi4>, %u: tensor<2xui4>, %p: tensor<2xi1>, %z: tensor<2xcomplex<f32>>) {
  // CHECK: stablehlo.compare EQ, %arg0, %arg0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %0 = stablehlo.compare EQ, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %1 = stablehlo.compare NE, %x, %x, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare GE, %arg0, %arg0, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %2 = stablehlo.compare GE, %x, %x, TOTALORDER : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare GT, %arg1, %arg1, SIGNED : (tensor<2xi4>, tensor<2xi4>) -> tensor<2xi1>
  %3 = stablehlo.compare GT, %i, %i, SIGNED : (tensor<2xi4>, tensor<2xi4>) -> tensor<2xi1>
  // CHECK: stablehlo.compare LE, %arg2, %arg2, UNSIGNED : (tensor<2xui4>, tensor<2xui4>) -> tensor<2xi1>
  %4 = stablehlo.compare LE, %u, %u, UNSIGNED : (tensor<2xui4>, tensor<2xui4>) -> tensor<2xi1>
  // CHECK: stablehlo.compare LT, %arg3, %arg3, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  %5 = stablehlo.compare LT, %p, %p, UNSIGNED : (tensor<2xi1>, tensor<2xi1>) -> tensor<2xi1>
  // CHECK: stablehlo.compare EQ, %arg4, %arg4, FLOAT : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  %6 = stablehlo.compare EQ, %z, %z, FLOAT : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xi1>
  // CHECK: stablehlo.compare NE, %arg0, %arg0, NOTYPE : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %7 = stablehlo.compare NE, %x, %x, NOTYPE : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  // CHECK: stablehlo.compare GT, %arg0, %arg0, FLOAT : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %generic = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return
}

// CHECK-LABEL: func @choose
func.func @choose(%x: tensor<2x3xbf16>, %s: tensor<bf16>, %p: tensor<i1>, %q: tensor<2x3xi1>) {
  // CHECK: stablehlo.clamp %arg1, %arg0, %arg1 : (tensor<bf16>, tensor<2x3xbf16>, tensor<bf16>) -> tensor<2x3xbf16>
  %0 = stablehlo.clamp %s, %x, %s : (tensor<bf16>, tensor<2x3xbf16>, tensor<bf16>) -> tensor<2x3xbf16>
  // CHECK: stablehlo.clamp %arg0, %arg0, %arg0 : tensor<2x3xbf16>
  %1 = "stablehlo.clamp"(%x, %x, %x) : (tensor<2x3xbf16>, tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  // CHECK: stablehlo.select %arg2, %arg0, %arg0 : tensor<i1>, tensor<2x3xbf16>
  %2 = "stablehlo.select"(%p, %x, %x) : (tensor<i1>, tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  // CHECK: stablehlo.select %arg3, %arg0, %arg0 : tensor<2x3xi1>, tensor<2x3xbf16>
  %3 = stablehlo.select %q, %x, %x : (tensor<2x3xi1>, tensor<2x3xbf16>, tensor<2x3xbf16>) -> tensor<2x3xbf16>
  return
}

// CHECK-LABEL: func @convert
func.func @convert(%x: tensor<2x3xf32>, %b: tensor<4xi8>, %n: tensor<4x2xf4E2M1FN>) {
  // CHECK: stablehlo.convert %arg0 : tensor<2x3xf32>
  %0 = stablehlo.convert %x : tensor<2x3xf32>
  // CHECK: stablehlo.convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FN>
  %1 = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xf8E4M3FN>
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  %2 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3x4xi8>
  // CHECK: stablehlo.bitcast_convert %arg0 : (tensor<2x3xf32>) -> tensor<2x3xui32>
  %3 = stablehlo.bitcast_convert %x : (tensor<2x3xf32>) -> tensor<2x3xui32>
  // CHECK: stablehlo.bitcast_convert %arg1 : (tensor<4xi8>) -> tensor<f32>
  %4 = stablehlo.bitcast_convert %b : (tensor<4xi8>) -> tensor<f32>
  // CHECK: stablehlo.bitcast_convert %arg2 : (tensor<4x2xf4E2M1FN>) -> tensor<4xui8>
  %5 = stablehlo.bitcast_convert %n : (tensor<4x2xf4E2M1FN>) -> tensor<4xui8>
  // CHECK: stablehlo.reduce_precision %arg0, format = e5m2 : tensor<2x3xf32>
  %6 = stablehlo.reduce_precision %x, format = e5m2 : tensor<2x3xf32>
  // CHECK: stablehlo.reduce_precision %arg0, format = e8m0 : tensor<2x3xf32>
  %7 = "stablehlo.reduce_precision"(%x) {exponent_bits = 8 : i32, mantissa_bits = 0 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// Every float of the element format table in one addition, through its own conversion.
// CHECK-LABEL: func @formats
func.func @formats(%x: tensor<2xf32>) {
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf4E2M1FN>
  %c0 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf4E2M1FN>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf4E2M1FN>
  %a0 = stablehlo.add %c0, %c0 : tensor<2xf4E2M1FN>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf6E2M3FN>
  %c1 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf6E2M3FN>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf6E2M3FN>
  %a1 = stablehlo.add %c1, %c1 : tensor<2xf6E2M3FN>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf6E3M2FN>
  %c2 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf6E3M2FN>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf6E3M2FN>
  %a2 = stablehlo.add %c2, %c2 : tensor<2xf6E3M2FN>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E3M4>
  %c3 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E3M4>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E3M4>
  %a3 = stablehlo.add %c3, %c3 : tensor<2xf8E3M4>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3>
  %c4 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E4M3>
  %a4 = stablehlo.add %c4, %c4 : tensor<2xf8E4M3>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  %c5 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FN>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E4M3FN>
  %a5 = stablehlo.add %c5, %c5 : tensor<2xf8E4M3FN>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3FNUZ>
  %c6 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3FNUZ>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E4M3FNUZ>
  %a6 = stablehlo.add %c6, %c6 : tensor<2xf8E4M3FNUZ>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E4M3B11FNUZ>
  %c7 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E4M3B11FNUZ>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E4M3B11FNUZ>
  %a7 = stablehlo.add %c7, %c7 : tensor<2xf8E4M3B11FNUZ>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E5M2>
  %c8 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E5M2>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E5M2>
  %a8 = stablehlo.add %c8, %c8 : tensor<2xf8E5M2>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E5M2FNUZ>
  %c9 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E5M2FNUZ>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E5M2FNUZ>
  %a9 = stablehlo.add %c9, %c9 : tensor<2xf8E5M2FNUZ>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf8E8M0FNU>
  %c10 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf8E8M0FNU>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf8E8M0FNU>
  %a10 = stablehlo.add %c10, %c10 : tensor<2xf8E8M0FNU>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xbf16>
  %c11 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xbf16>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xbf16>
  %a11 = stablehlo.add %c11, %c11 : tensor<2xbf16>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf16>
  %c12 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf16>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf16>
  %a12 = stablehlo.add %c12, %c12 : tensor<2xf16>
  // CHECK: stablehlo.convert %arg0 : (tensor<2xf32>) -> tensor<2xf64>
  %c14 = stablehlo.convert %x : (tensor<2xf32>) -> tensor<2xf64>
  // CHECK: stablehlo.add %{{.*}} : tensor<2xf64>
  %a14 = stablehlo.add %c14, %c14 : tensor<2xf64>
  return
}

// CHECK-LABEL: func.func @more_functions
func.func @more_functions(%x: tensor<4xf32>, %i: tensor<4xi8>, %u: tensor<?xui64>) {
  // CHECK: stablehlo.atan2 %arg0, %arg0 : tensor<4xf32>
  %0 = stablehlo.atan2 %x, %x : tensor<4xf32>
  // CHECK: stablehlo.tan %arg0 : tensor<4xf32>
  %1 = stablehlo.tan %x : tensor<4xf32>
  // CHECK: stablehlo.popcnt %arg1 : tensor<4xi8>
  %2 = stablehlo.popcnt %i : tensor<4xi8>
  // CHECK: stablehlo.count_leading_zeros %arg2 : tensor<?xui64>
  %3 = stablehlo.count_leading_zeros %u : tensor<?xui64>
  // CHECK: stablehlo.shift_left %arg1, %arg1 : tensor<4xi8>
  %4 = stablehlo.shift_left %i, %i : tensor<4xi8>
  // CHECK: stablehlo.shift_right_arithmetic %arg1, %arg1 : tensor<4xi8>
  %5 = stablehlo.shift_right_arithmetic %i, %i : tensor<4xi8>
  // CHECK: stablehlo.shift_right_logical %arg1, %arg1 : tensor<4xi8>
  %6 = stablehlo.shift_right_logical %i, %i : tensor<4xi8>
  // CHECK: stablehlo.sine %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  %7 = stablehlo.sine %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
  // CHECK: stablehlo.sqrt %arg0 : tensor<4xf32>
  %8 = stablehlo.sqrt %x {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>} : tensor<4xf32>
  // CHECK: "stablehlo.map"(%arg0, %arg0) <{dimensions = array<i64: 0>}> ({
  %9 = "stablehlo.map"(%x, %x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %c : tensor<f32>
  }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
