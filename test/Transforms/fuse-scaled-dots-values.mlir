// What a fused dot gives is what its operations give, on both backends.
// RUN: octavo run %s --backend reference
// RUN: octavo-opt %s -octavo-fuse-scaled-dots -o %t 2>/dev/null
// RUN: FileCheck %s --input-file %t
// RUN: octavo run %t --backend reference
// RUN: octavo run %t --backend compiled
// RUN: octavo run %t --backend compiled --explain-compile | FileCheck %s --check-prefix=COMPILED

// COMPILED: kernels

// Products 5, -1.5, -5, 5.5; twice that and the bias: 11, -4, -9, 10; relu; divided by 2^-5: 352 and
// 320 are values of e4m3fn. By 2^-6, 704 and 640 are clamped to 448.
// CHECK-COUNT-2: octavo.fused_dot
func.func @main() {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, -4.0]]> : tensor<2x2xf8E4M3FN>
  %w = stablehlo.constant dense<[[1.0, 0.5], [2.0, -1.0]]> : tensor<2x2xf8E4M3FN>
  %two = stablehlo.constant dense<2.0> : tensor<2x2xf32>
  %bias = stablehlo.constant dense<[1.0, -1.0]> : tensor<2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<2x2xf32>
  %low = stablehlo.constant dense<-448.0> : tensor<2x2xf32>
  %high = stablehlo.constant dense<448.0> : tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>

  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2xf8E4M3FN>, tensor<2x2xf8E4M3FN>) -> tensor<2x2xf32>
  %u = stablehlo.multiply %p, %two : tensor<2x2xf32>
  %v = stablehlo.add %u, %b : tensor<2x2xf32>
  %m = stablehlo.abs %v : tensor<2x2xf32>
  %amax = stablehlo.reduce(%m init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  %r = stablehlo.maximum %v, %zeros : tensor<2x2xf32>
  %scale = stablehlo.constant dense<0.03125> : tensor<2x2xf32>
  %d = stablehlo.divide %r, %scale : tensor<2x2xf32>
  %c = stablehlo.clamp %low, %d, %high : tensor<2x2xf32>
  %q = stablehlo.convert %c : (tensor<2x2xf32>) -> tensor<2x2xf8E4M3FN>
  check.expect_eq_const %q, dense<[[352.0, 0.0], [0.0, 320.0]]> : tensor<2x2xf8E4M3FN>
  check.expect_eq_const %amax, dense<11.0> : tensor<f32>

  // Scales 2 and 1/2 give the same products.
  %sx = stablehlo.constant dense<2.0> : tensor<2x1xf8E8M0FNU>
  %sw = stablehlo.constant dense<0.5> : tensor<1x2xf8E8M0FNU>
  %px = octavo.pack %x, %sx : (tensor<2x2xf8E4M3FN>, tensor<2x1xf8E8M0FNU>) -> !octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [1, 2]>
  %pw = octavo.pack %w, %sw : (tensor<2x2xf8E4M3FN>, tensor<1x2xf8E8M0FNU>) -> !octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [2, 1]>
  %p2 = octavo.dot_general %px, %pw, contracting_dims = [1] x [0] : (!octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [1, 2]>, !octavo.scaled<2x2xf8E4M3FN, scale f8E8M0FNU, block [2, 1]>) -> tensor<2x2xf32>
  %u2 = stablehlo.multiply %p2, %two : tensor<2x2xf32>
  %v2 = stablehlo.add %u2, %b : tensor<2x2xf32>
  %r2 = stablehlo.maximum %v2, %zeros : tensor<2x2xf32>
  %scale2 = stablehlo.constant dense<0.015625> : tensor<2x2xf32>
  %d2 = stablehlo.divide %r2, %scale2 : tensor<2x2xf32>
  %c2 = stablehlo.clamp %low, %d2, %high : tensor<2x2xf32>
  %q2 = stablehlo.convert %c2 : (tensor<2x2xf32>) -> tensor<2x2xf8E4M3FN>
  check.expect_eq_const %q2, dense<[[448.0, 0.0], [0.0, 448.0]]> : tensor<2x2xf8E4M3FN>
  return
}
