// RUN: not octavo-opt %s -octavo-quantize-dots 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not octavo-opt %s -octavo-quantize-dots=weights=mxfp5 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: not octavo-opt %s -octavo-quantize-dots=weights=mxfp4:96 2>&1 | FileCheck %s --check-prefix=BLOCK
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=mxfp4 activations=mxfp5" 2>&1 | FileCheck %s --check-prefix=ACTIVATIONS
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=mxfp4 rule=up" 2>&1 | FileCheck %s --check-prefix=RULE
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=nvfp4 rule=floor" 2>&1 | FileCheck %s --check-prefix=NEAREST
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=mxfp4 match=(" 2>&1 | FileCheck %s --check-prefix=REGEX
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=mxfp4 non-finite=ignore" 2>&1 | FileCheck %s --check-prefix=POLICY
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=mxfp4 preset=pytorch" 2>&1 | FileCheck %s --check-prefix=PRESET
// RUN: not octavo-opt %s -octavo-quantize-dots="weights=mxfp4 preset=ocp rule=even" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp4 preset=torchao-rceil" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EDGE
// RUN: not octavo-opt %s -octavo-quantize-dots=weights=mxfp4 2>&1 | FileCheck %s --check-prefix=NAN
// RUN: octavo-opt %s -octavo-quantize-dots="weights=mxfp4 non-finite=propagate" 2>/dev/null | FileCheck %s --check-prefix=PROPAGATE

// NONE: octavo-quantize-dots: weights=FORMAT or recipe=FILE must be given
// FORMAT: weights: no scaled format "mxfp5"; near it: {{.*}}; available: mxfp8_e4m3, mxfp8_e5m2
// BLOCK: weights: no scaled format "mxfp4:96": blocks of mxfp4 are a power of two from 8 to 1024 long, as in mxfp4:64
// ACTIVATIONS: activations: no scaled format "mxfp5"; near it: {{.*}}, none
// RULE: no scale rule "up"; available: floor ceil even round-up nearest
// NEAREST: the rule floor is for E8M0 scales; nvfp4 has scales of e4m3fn, whose one rule is nearest
// REGEX: "(", given for match, is not a regular expression: missing ): (
// POLICY: no policy "ignore" for NaN and Inf; available: error propagate saturate skip-nan
// PRESET: unknown preset "pytorch" for mxfp4; available: ocp, microxcaling, torchao-floor
// BOTH: the preset "ocp" decides the scale rule; give one of the two
// EDGE: jit(f)/dot_general (8x2x4) left: torchao-rceil refuses axis 1 of tensor<8x4xf32>, which is not a multiple of 32
// NAN: jit(f)/dot_general: the constant has a NaN at [1, 2], which its quantization refuses: --non-finite propagate makes the block NaN,
// PROPAGATE: stablehlo.constant dense<{{\[\[}}{{.*}}], [0xFF]]> : tensor<2x1xf8E8M0FNU>
func.func @nan(%x: tensor<8x4xf32>) -> tensor<8x2xf32> {
  %w = stablehlo.constant dense<[[6.0, 2.5, -5.0, 0.2], [1.5, 1.0, 0x7FC00000, -0.1]]> : tensor<2x4xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<2x4xf32>) -> tensor<8x2xf32> loc("jit(f)/dot_general")
  return %0 : tensor<8x2xf32>
}
