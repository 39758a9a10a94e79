// RUN: octavo-opt %s --octavo-emit --verify-diagnostics -split-input-file

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>

func.func @setting(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @below {{octavo-emit writes the scale rules with all other settings at their defaults; found #octavo.quantization<rule = floor, non_finite = propagate>}}
  %0 = octavo.quantize %x, rule = floor, non_finite = propagate : tensor<4x64xf32> -> !mx
  %1 = octavo.dequantize %0 : !mx -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}

// -----

func.func @conversion(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  // expected-error @below {{octavo-emit writes conversions that round ties to even or stochastically and give NaN the code of -0 where there is none; found #octavo.conversion<rounding = toward-zero>}}
  %0 = octavo.convert %x, rounding = toward-zero : tensor<4xf32> -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @wide(%x: tensor<4xf64>, %bits: tensor<4xui32>) -> tensor<4xf8E4M3FN> {
  // expected-error @below {{octavo-emit rounds f32 and narrower floats stochastically, to floats of at most 16 bits that have a zero; found 'tensor<4xf64>' and 'tensor<4xf8E4M3FN>'}}
  %0 = octavo.convert %x random(%bits : tensor<4xui32>), rounding = stochastic : tensor<4xf64> -> tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf8E4M3FN> {
  // expected-error @below {{octavo-emit takes known extents; found 'tensor<?xf32>' (octavo-refine-shapes makes them known)}}
  %0 = octavo.convert %x, overflow = saturate : tensor<?xf32> -> tensor<?xf8E4M3FN>
  return %0 : tensor<?xf8E4M3FN>
}

// -----

// expected-error @below {{octavo-emit takes known extents; found '!octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>' (octavo-refine-shapes makes them known)}}
func.func @extents(%x: !octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>) -> tensor<?x64xf32> {
  %0 = octavo.dequantize %x : !octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>

func.func private @callee(%x: tensor<4x64xf32>) -> !mx {
  %0 = octavo.quantize %x, rule = floor : tensor<4x64xf32> -> !mx
  return %0 : !mx
}

func.func @caller(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  // expected-error @below {{octavo-emit does not take scaled tensors through this operation; calls are opened by --inline}}
  %0 = call @callee(%x) : (tensor<4x64xf32>) -> !mx
  %1 = octavo.dequantize %0 : !mx -> tensor<4x64xf32>
  return %1 : tensor<4x64xf32>
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>

func.func @blocks(%x: tensor<4x64xf8E4M3FN>, %s: tensor<4x2xf8E8M0FNU>) -> tensor<4x64xf32> {
  %0 = octavo.pack %x, %s : (tensor<4x64xf8E4M3FN>, tensor<4x2xf8E8M0FNU>) -> !mx
  cf.br ^then(%0 : !mx) // expected-error {{octavo-emit does not take scaled tensors through this operation}}
^then(%1: !mx):
  %2 = octavo.dequantize %1 : !mx -> tensor<4x64xf32>
  return %2 : tensor<4x64xf32>
}
