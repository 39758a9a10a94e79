// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s
// RUN: octavo-opt -mlir-print-op-generic %s | octavo-opt | FileCheck %s

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!int8 = !octavo.scaled<4x64xi8, scale f8E8M0FNU, block [1, 32]>
!nv = !octavo.scaled<4x70xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>

// CHECK-LABEL: func.func @quantize
func.func @quantize(%x: tensor<4x64xf32>, %y: tensor<4x64xbf16>, %z: tensor<4x70xf32>, %bits: tensor<4x64xui32>) {
  // CHECK: octavo.quantize %arg0, rule = floor : tensor<4x64xf32> -> !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
  %0 = octavo.quantize %x, rule = floor : tensor<4x64xf32> -> !mx
  // CHECK: octavo.quantize %arg1, rule = round-up, rounding = ties-to-away, overflow = special, non_finite = propagate, int8 = full : tensor<4x64xbf16> ->
  %1 = octavo.quantize %y, rule = round-up, rounding = ties-to-away, overflow = special, non_finite = propagate, int8 = full : tensor<4x64xbf16> -> !int8
  // CHECK: octavo.quantize %arg2, rule = nearest : tensor<4x70xf32> -> !octavo.scaled<4x70xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>
  %2 = octavo.quantize %z, rule = nearest : tensor<4x70xf32> -> !nv
  // CHECK: octavo.quantize %arg0 random(%arg3 : tensor<4x64xui32>), rule = even, rounding = stochastic : tensor<4x64xf32> ->
  %3 = octavo.quantize %x random(%bits : tensor<4x64xui32>), rule = even, rounding = stochastic : tensor<4x64xf32> -> !mx
  // CHECK: octavo.quantize %arg0, preset = "torchao-rceil" : tensor<4x64xf32> ->
  %4 = octavo.quantize %x, preset = "torchao-rceil" : tensor<4x64xf32> -> !mx
  // CHECK: octavo.quantize %arg2, rule = nearest, zero_block = 1.25e-01, least_amax = 1.0e-01, outer = inverse, quotient = divided-by-quotient, zero_sign = positive : tensor<4x70xf32> ->
  %5 = octavo.quantize %z, rule = nearest, quotient = divided-by-quotient, zero_sign = positive, zero_block = 0.125, least_amax = 0.1, outer = inverse : tensor<4x70xf32> -> !nv
  // CHECK: octavo.quantize %arg2, rule = nearest, amax = 1.0e-01 : tensor<4x70xf32> ->
  %6 = octavo.quantize %z, rule = nearest, amax = 0.1 : tensor<4x70xf32> -> !nv
  // CHECK: octavo.quantize %arg0, rule = nearest, amax = 0.0e+00 : tensor<4x64xf32> -> !octavo.scaled<4x64xf8E4M3FN, scale f32, block [4, 64]>
  %7 = octavo.quantize %x, rule = nearest, amax = 0.0 : tensor<4x64xf32> -> !octavo.scaled<4x64xf8E4M3FN, scale f32, block [4, 64]>
  return
}

// CHECK-LABEL: func.func @exponents
// CHECK-SAME: octavo.exponents = {axis = 0 : i64, exponents = array<i8: -1, 0, 3, 24>}
func.func @exponents(%q: !mx {octavo.quantize = #octavo.quantization<rule = floor>, octavo.exponents = {axis = 0 : i64, exponents = array<i8: -1, 0, 3, 24>}}) {
  return
}

// CHECK-LABEL: func.func @dequantize
func.func @dequantize(%q: !nv) -> tensor<4x70xf32> {
  // CHECK: octavo.dequantize %arg0 : !octavo.scaled<4x70xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32> -> tensor<4x70xf32>
  %0 = octavo.dequantize %q : !nv -> tensor<4x70xf32>
  return %0 : tensor<4x70xf32>
}

// CHECK-LABEL: func.func @parts
func.func @parts(%q: !mx, %n: !nv, %i: !int8, %c: !octavo.scaled<4x64xcfloat8_1_4_3, scale f8E8M0FNU, block [4, 64]>) {
  // CHECK: %elements, %scales = octavo.unpack %arg0 : (!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
  %e, %s = octavo.unpack %q : (!mx) -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
  // CHECK: octavo.pack %elements, %scales : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
  %0 = octavo.pack %e, %s : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> !mx
  // 70 elements in blocks of 16 have 5 scales.
  // CHECK: octavo.unpack %arg1 : {{.*}} -> (tensor<4x70xf4E2M1FN>, tensor<4x5xf8E4M3FN>, tensor<f32>)
  %e4, %s4, %o = octavo.unpack %n : (!nv) -> (tensor<4x70xf4E2M1FN>, tensor<4x5xf8E4M3FN>, tensor<f32>)
  // CHECK: octavo.pack %{{.*}}, %{{.*}}, %{{.*}} : (tensor<4x70xf4E2M1FN>, tensor<4x5xf8E4M3FN>, tensor<f32>) ->
  %1 = octavo.pack %e4, %s4, %o : (tensor<4x70xf4E2M1FN>, tensor<4x5xf8E4M3FN>, tensor<f32>) -> !nv
  // CHECK: octavo.unpack %arg2 : {{.*}} -> (tensor<4x64xi8>, tensor<4x2xf8E8M0FNU>)
  %e8, %s8 = octavo.unpack %i : (!int8) -> (tensor<4x64xi8>, tensor<4x2xf8E8M0FNU>)
  // MLIR has no type of CFloat8.
  // CHECK: octavo.unpack %arg3 : {{.*}} -> (tensor<4x64xui8>, tensor<1x1xf8E8M0FNU>)
  %ec, %sc = octavo.unpack %c : (!octavo.scaled<4x64xcfloat8_1_4_3, scale f8E8M0FNU, block [4, 64]>) -> (tensor<4x64xui8>, tensor<1x1xf8E8M0FNU>)
  return
}

// CHECK-LABEL: func.func @dot_general
func.func @dot_general(%x: tensor<8x64xf32>, %w: !mx, %a: !octavo.scaled<2x4x64xf8E5M2, scale f8E8M0FNU, block [1, 1, 32]>, %b: !octavo.scaled<2x64x8xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>) {
  // CHECK: octavo.dot_general %arg0, %arg1, contracting_dims = [1] x [1] : (tensor<8x64xf32>, !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>) -> tensor<8x4xf32>
  %0 = octavo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x64xf32>, !mx) -> tensor<8x4xf32>
  // CHECK: octavo.dot_general %arg2, %arg3, batching_dims = [0] x [0], contracting_dims = [2] x [1], accumulation = f32 : {{.*}} -> tensor<2x4x8xbf16>
  %1 = octavo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1], accumulation = f32 : (!octavo.scaled<2x4x64xf8E5M2, scale f8E8M0FNU, block [1, 1, 32]>, !octavo.scaled<2x64x8xf8E4M3FN, scale f8E8M0FNU, block [1, 32, 1]>) -> tensor<2x4x8xbf16>
  return
}

// CHECK-LABEL: func.func @convert
func.func @convert(%x: tensor<4xf32>, %bits: tensor<4xui32>) {
  // CHECK: octavo.convert %arg0 : tensor<4xf32> -> tensor<4xf8E4M3FN>
  %0 = octavo.convert %x : tensor<4xf32> -> tensor<4xf8E4M3FN>
  // CHECK: octavo.convert %arg0, rounding = toward-zero, overflow = saturate, nan = maximum : tensor<4xf32> -> tensor<4xf4E2M1FN>
  %1 = octavo.convert %x, rounding = toward-zero, overflow = saturate, nan = maximum : tensor<4xf32> -> tensor<4xf4E2M1FN>
  // CHECK: octavo.convert %arg0 random(%arg1 : tensor<4xui32>), rounding = stochastic : tensor<4xf32> -> tensor<4xbf16>
  %2 = octavo.convert %x random(%bits : tensor<4xui32>), rounding = stochastic : tensor<4xf32> -> tensor<4xbf16>
  return
}
