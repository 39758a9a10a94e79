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
// CHECK-LABEL: func.func @needed
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
