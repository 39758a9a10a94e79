// RUN: octavo-opt %s -octavo-drop-scales 2>/dev/null | FileCheck %s
// RUN: octavo-opt %s -octavo-drop-scales -o /dev/null 2>&1 | FileCheck %s --check-prefix=TOLD

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>
!nv = !octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>

// Nothing takes the codes: the tensor stays wide, bf16 as f32.
// CHECK-LABEL: func.func @kept_wide
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg0 : (tensor<4x64xbf16>) -> tensor<4x64xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[W]]
// CHECK-NEXT: return %[[T]]
// TOLD: remark: this quantization is left out, and with it 8 scales and their amax: its codes are only dequantized
func.func @kept_wide(%x: tensor<4x64xbf16>) -> tensor<4x64xf32> {
  %q = octavo.quantize %x, rule = floor : tensor<4x64xbf16> -> !mx
  %d = octavo.dequantize %q : !mx -> tensor<4x64xf32>
  %t = stablehlo.tanh %d : tensor<4x64xf32>
  return %t : tensor<4x64xf32>
}

// The parts of a tensor, and the same tensor of them.
// CHECK-LABEL: func.func @through_parts
// CHECK-NEXT: return %arg0
// TOLD: remark: this quantization is left out, and with it 16 scales, the outer scale and their amax
func.func @through_parts(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %q = octavo.quantize %x, rule = nearest : tensor<4x64xf32> -> !nv
  %e, %s, %o = octavo.unpack %q : (!nv) -> (tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, tensor<f32>)
  %p = octavo.pack %e, %s, %o : (tensor<4x64xf4E2M1FN>, tensor<4x4xf8E4M3FN>, tensor<f32>) -> !nv
  %d = octavo.dequantize %p : !nv -> tensor<4x64xf32>
  return %d : tensor<4x64xf32>
}

// Codes that are stored, or multiplied, need their scales.
// CHECK-LABEL: func.func @needed(
// CHECK-COUNT-2: octavo.quantize
// TOLD: remark: this quantization needs its scale: 'func.return' takes the codes
// TOLD: remark: this quantization needs its scale: 'octavo.dot_general' takes the codes
func.func @needed(%x: tensor<4x64xf32>, %w: tensor<8x64xf32>) -> (tensor<4x64xf8E4M3FN>, tensor<4x8xf32>) {
  %q = octavo.quantize %x, rule = floor : tensor<4x64xf32> -> !mx
  %e, %s = octavo.unpack %q : (!mx) -> (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>)
  %v = octavo.quantize %x, rule = floor : tensor<4x64xf32> -> !mx
  %d = octavo.dequantize %v : !mx -> tensor<4x64xf32>
  %y = octavo.dot_general %v, %w, contracting_dims = [1] x [1] : (!mx, tensor<8x64xf32>) -> tensor<4x8xf32>
  return %e, %y : tensor<4x64xf8E4M3FN>, tensor<4x8xf32>
}

// Spelled out: divided, clamped, converted, and back.
// CHECK-LABEL: func.func @spelled_out
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg0 : (tensor<4x64xf32>) -> tensor<4x64xbf16>
// CHECK-NEXT: return %arg0, %[[W]]
// TOLD: remark: this quantization is left out, and with it 4 scales and their amax: its codes are only dequantized
func.func @spelled_out(%x: tensor<4x64xf32>, %s: tensor<4xf32>) -> (tensor<4x64xf32>, tensor<4x64xbf16>) {
  %low = stablehlo.constant dense<-448.0> : tensor<f32>
  %high = stablehlo.constant dense<448.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
  %0 = stablehlo.divide %x, %b : tensor<4x64xf32>
  %1 = stablehlo.clamp %low, %0, %high : (tensor<f32>, tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %2 = stablehlo.convert %1 : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
  %3 = stablehlo.convert %2 : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %again = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
  %4 = stablehlo.multiply %again, %3 : tensor<4x64xf32>
  %6 = stablehlo.convert %4 : (tensor<4x64xf32>) -> tensor<4x64xbf16>
  return %4, %6 : tensor<4x64xf32>, tensor<4x64xbf16>
}

// Multiplied by the scale, and back by its inverse, as delayed scaling does; and by two constants.
// CHECK-LABEL: func.func @inverses
// CHECK-NEXT: return %arg0, %arg0
// TOLD: remark: this quantization is left out, and with it 1 scale and their amax
// TOLD: remark: this quantization is left out, and with it 1 scale and their amax
func.func @inverses(%x: tensor<4x64xf32>, %s: tensor<f32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %inverse = stablehlo.divide %one, %s : tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %back = stablehlo.broadcast_in_dim %inverse, dims = [] : (tensor<f32>) -> tensor<4x64xf32>
  %0 = stablehlo.multiply %x, %b : tensor<4x64xf32>
  %1 = stablehlo.convert %0 : (tensor<4x64xf32>) -> tensor<4x64xf8E5M2>
  %2 = stablehlo.convert %1 : (tensor<4x64xf8E5M2>) -> tensor<4x64xf32>
  %3 = stablehlo.multiply %2, %back : tensor<4x64xf32>
  %eight = stablehlo.constant dense<8.0> : tensor<4x64xf32>
  %eighth = stablehlo.constant dense<0.125> : tensor<4x64xf32>
  %limit = stablehlo.constant dense<448.0> : tensor<4x64xf32>
  %4 = stablehlo.multiply %eight, %x : tensor<4x64xf32>
  %5 = stablehlo.minimum %limit, %4 : tensor<4x64xf32>
  %6 = stablehlo.convert %5 : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
  %7 = stablehlo.convert %6 : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %8 = stablehlo.multiply %7, %eighth : tensor<4x64xf32>
  return %3, %8 : tensor<4x64xf32>, tensor<4x64xf32>
}

// Codes that are returned too; another scale on the way back; values that are multiplied, not scaled.
// CHECK-LABEL: func.func @spelled_out_and_needed
// CHECK-COUNT-3: stablehlo.convert %{{.*}} : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
// TOLD: remark: this quantization needs its scale: 'func.return' takes the codes
// TOLD-NOT: remark
func.func @spelled_out_and_needed(%x: tensor<4x64xf32>, %s: tensor<4x64xf32>, %t: tensor<4x64xf32>)
    -> (tensor<4x64xf8E4M3FN>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>) {
  %0 = stablehlo.divide %x, %s : tensor<4x64xf32>
  %1 = stablehlo.convert %0 : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
  %2 = stablehlo.convert %1 : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %3 = stablehlo.multiply %2, %s : tensor<4x64xf32>
  %4 = stablehlo.divide %x, %t : tensor<4x64xf32>
  %5 = stablehlo.convert %4 : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
  %6 = stablehlo.convert %5 : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  %7 = stablehlo.multiply %6, %s : tensor<4x64xf32>
  %8 = stablehlo.multiply %x, %x : tensor<4x64xf32>
  %9 = stablehlo.convert %8 : (tensor<4x64xf32>) -> tensor<4x64xf8E4M3FN>
  %10 = stablehlo.convert %9 : (tensor<4x64xf8E4M3FN>) -> tensor<4x64xf32>
  return %1, %3, %7, %10 : tensor<4x64xf8E4M3FN>, tensor<4x64xf32>, tensor<4x64xf32>, tensor<4x64xf32>
}

// Of open extents: how many scales there are is not known, but that nobody takes the codes is.
// CHECK-LABEL: func.func @open
// CHECK: %[[T:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[T]]
// TOLD: remark: this quantization is left out, and with it its scales and their amax
func.func @open(%x: tensor<?x64xf32>, %s: tensor<?xf32>, %shape: tensor<2xi32>) -> tensor<?x64xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %s, %shape, dims = [0] : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x64xf32>
  %1 = stablehlo.divide %x, %0 : tensor<?x64xf32>
  %2 = stablehlo.convert %1 : (tensor<?x64xf32>) -> tensor<?x64xf8E4M3FN>
  %3 = stablehlo.convert %2 : (tensor<?x64xf8E4M3FN>) -> tensor<?x64xf32>
  %4 = stablehlo.multiply %3, %0 : tensor<?x64xf32>
  %5 = stablehlo.tanh %4 : tensor<?x64xf32>
  return %5 : tensor<?x64xf32>
}
