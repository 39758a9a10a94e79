// RUN: octavo-opt %s --octavo-emit --verify-diagnostics -split-input-file

func.func @unknown(%x: tensor<?xf32>) -> tensor<?xf8E4M3FN> {
  // expected-error @below {{octavo-emit takes known extents; found 'tensor<?xf32>'; octavo-refine-shapes=types=tensor<8x64xf32>,... makes them known, given the types of the arguments}}
  %0 = octavo.convert %x, overflow = saturate : tensor<?xf32> -> tensor<?xf8E4M3FN>
  return %0 : tensor<?xf8E4M3FN>
}

// -----

// expected-error @below {{octavo-emit takes known extents; found '!octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>'; octavo-refine-shapes=types=tensor<8x64xf32>,... makes them known, given the types of the arguments}}
func.func @extents(%x: !octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>) -> tensor<?x64xf32> {
  %0 = octavo.dequantize %x : !octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]> -> tensor<?x64xf32>
  return %0 : tensor<?x64xf32>
}

// -----

!mx = !octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>

func.func @callee(%x: !mx {octavo.quantize = #octavo.quantization<rule = floor>}) -> tensor<4x64xf32> {
  %0 = octavo.dequantize %x : !mx -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

func.func @caller(%x: !mx) -> tensor<4x64xf32> {
  // expected-error @below {{octavo-emit makes argument 0 of @callee, which has octavo.quantize, a wide tensor; found a call that gives it '!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>' (--inline opens calls)}}
  %0 = call @callee(%x) : (!mx) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
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

// -----

func.func @groups(%all: tensor<?x3x7xf32>, %sizes: tensor<3xi32>) -> tensor<?x7xf32> {
  // expected-error @below {{octavo-emit takes known extents; found 'tensor<?x3x7xf32>'; octavo-refine-shapes=types=tensor<8x64xf32>,... makes them known, given the types of the arguments}}
  %0 = octavo.rows_of_groups %all, %sizes : (tensor<?x3x7xf32>, tensor<3xi32>) -> tensor<?x7xf32>
  return %0 : tensor<?x7xf32>
}
