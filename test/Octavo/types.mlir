// RUN: octavo-opt %s | FileCheck %s
// RUN: octavo-opt %s | octavo-opt | FileCheck %s

// CHECK: func.func private @mxfp8(!octavo.scaled<256x384xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)
func.func private @mxfp8(!octavo.scaled<256x384xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)
// CHECK: @mxfp6(!octavo.scaled<64x4xf6E3M2FN, scale f8E8M0FNU, block [32, 1]>, !octavo.scaled<4x64xf6E2M3FN, scale f8E8M0FNU, block [1, 32]>)
func.func private @mxfp6(!octavo.scaled<64x4xf6E3M2FN, scale f8E8M0FNU, block [32, 1]>, !octavo.scaled<4x64xf6E2M3FN, scale f8E8M0FNU, block [1, 32]>)
// CHECK: @mxint8(!octavo.scaled<64xi8, scale f8E8M0FNU, block [32]>)
func.func private @mxint8(!octavo.scaled<64xi8, scale f8E8M0FNU, block [32]>)
// CHECK: @nvfp4(!octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>)
func.func private @nvfp4(!octavo.scaled<4x64xf4E2M1FN, scale f8E4M3FN, block [1, 16], outer f32>)
// CHECK: @other(!octavo.scaled<4x64xf8E5M2FNUZ, scale bf16, block [4, 64]>, !octavo.scaled<4xf8E3M4, scale f16, block [2]>)
func.func private @other(!octavo.scaled<4x64xf8E5M2FNUZ, scale bf16, block [4, 64]>, !octavo.scaled<4xf8E3M4, scale f16, block [2]>)

// A last block may be short, in any axis.
// CHECK: @ragged(!octavo.scaled<100x130xf8E4M3FN, scale f32, block [64, 128]>)
func.func private @ragged(!octavo.scaled<100x130xf8E4M3FN, scale f32, block [64, 128]>)

// CHECK: @scalar(!octavo.scaled<f8E4M3FN, scale f32, block []>)
func.func private @scalar(!octavo.scaled<f8E4M3FN, scale f32, block []>)

// CHECK: @empty(!octavo.scaled<0x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, !octavo.scaled<4x0xf8E4M3FN, scale f8E8M0FNU, block [1, 1]>)
func.func private @empty(!octavo.scaled<0x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>, !octavo.scaled<4x0xf8E4M3FN, scale f8E8M0FNU, block [1, 1]>)

// CHECK: @unknown(!octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>, !octavo.scaled<4x?xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)
func.func private @unknown(!octavo.scaled<?x64xf8E4M3FN, scale f32, block [?, 64]>, !octavo.scaled<4x?xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)

// CHECK: @quantized(!octavo.scaled<64xf8E4M3FN, scale f8E8M0FNU, block [32]> {octavo.name = "w", octavo.parameter, octavo.quantize = #octavo.quantization<rule = round-up>})
func.func private @quantized(!octavo.scaled<64xf8E4M3FN, scale f8E8M0FNU, block [32]> {octavo.name = "w", octavo.parameter, octavo.quantize = #octavo.quantization<rule = round-up>})

// CHECK: @attributes() attributes {all = #octavo.quantization<rule = even, rounding = toward-zero, overflow = special, non_finite = saturate, int8 = full>, conversion = #octavo.conversion<rounding = toward-positive, overflow = saturate, nan = maximum>, defaults = #octavo.conversion<>, shortest = #octavo.quantization<rule = floor>}
func.func private @attributes() attributes {
  all = #octavo.quantization<int8 = full, rule = even, overflow = special, rounding = toward-zero, non_finite = saturate>,
  shortest = #octavo.quantization<rule = floor, rounding = ties-to-even, overflow = saturate, non_finite = error, int8 = symmetric>,
  conversion = #octavo.conversion<rounding = toward-positive, overflow = saturate, nan = maximum>,
  defaults = #octavo.conversion<rounding = ties-to-even>
}
