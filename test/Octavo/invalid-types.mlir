// RUN: octavo-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{a tensor of rank 2 needs one block extent an axis, found 1}}
func.func private @rank(!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [32]>)

// -----

// expected-error @+1 {{the block extent of axis 1 is 0; it must be at least 1}}
func.func private @zero_extent(!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 0]>)

// -----

// expected-error @+1 {{the block extent of axis 1 is 32, beyond the axis of 16; write 16 for a block that spans the axis}}
func.func private @beyond(!octavo.scaled<4x16xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)

// -----

// expected-error @+1 {{the block extent of axis 1 is 32, beyond the axis of 0; write 1}}
func.func private @empty(!octavo.scaled<4x0xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)

// -----

// expected-error @+1 {{elements of bf16 cannot be scaled: an element format has at most 8 bits and a zero; available: f8E4M3FN}}
func.func private @wide(!octavo.scaled<4x64xbf16, scale f8E8M0FNU, block [1, 32]>)

// -----

// expected-error @+1 {{elements of f8E8M0FNU cannot be scaled}}
func.func private @no_zero(!octavo.scaled<4x64xf8E8M0FNU, scale f8E8M0FNU, block [1, 32]>)

// -----

// expected-error @+1 {{f4E2M1FN cannot be a scale: a scale format has at most 32 bits and a NaN; available:}}
func.func private @scale_without_nan(!octavo.scaled<4x64xf8E4M3FN, scale f4E2M1FN, block [1, 32]>)

// -----

// expected-error @+1 {{an outer scale needs a scale of at most 8 bits below it, found f32; fold the outer scale into the scales}}
func.func private @outer_on_wide(!octavo.scaled<4x64xf8E4M3FN, scale f32, block [4, 64], outer f32>)

// -----

// expected-error @+1 {{f64 cannot be a scale}}
func.func private @wide_scale(!octavo.scaled<4x64xf8E4M3FN, scale f64, block [1, 32]>)

// -----

// expected-error @+1 {{'f8E4M3B' is not an element format that can be an element; available: f8E4M3FN, f8E5M2,}}
func.func private @unknown(!octavo.scaled<4x64xf8E4M3B, scale f8E8M0FNU, block [1, 32]>)

// -----

// The OCP's E4M3 is f8E4M3FN here; a format has one spelling.
// expected-error @+1 {{'E4M3' is not an element format that can be an element}}
func.func private @other_spelling(!octavo.scaled<4x64xE4M3, scale f8E8M0FNU, block [1, 32]>)

// -----

// expected-error @+1 {{has more than 2^56 elements}}
func.func private @huge(!octavo.scaled<4294967296x33554432xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>)

// -----

// expected-error @+1 {{expected 'f32'}}
func.func private @outer(!octavo.scaled<4x64xf8E4M3FN, scale f8E8M0FNU, block [1, 32], outer bf16>)

// -----

// expected-error @+1 {{expected 'preset = "..."', or 'rule = ...', one of floor, ceil, even, round-up, nearest}}
func.func private @no_rule() attributes {a = #octavo.quantization<rounding = toward-zero>}

// -----

// expected-error @+1 {{'up' is not a value of 'rule'; available: floor, ceil, even, round-up, nearest}}
func.func private @unknown_rule() attributes {a = #octavo.quantization<rule = up>}

// -----

// expected-error @+1 {{unknown option 'mode'; available: rule, rounding, overflow, non_finite, int8, zero_block, nan_block, inf_block, past_range, underflow, least_scale, input_epsilon, even_bits, least_amax, amax, scale_values, ratio, exponent, outer, quotient, zero_sign, ratio_in_input_type, outer_in_input_type, quotient_in_input_type}}
func.func private @unknown_option() attributes {a = #octavo.quantization<rule = floor, mode = up>}

// -----

// expected-error @+1 {{option 'rule' is given twice}}
func.func private @twice() attributes {a = #octavo.quantization<rule = floor, rule = ceil>}

// -----

// expected-error @+1 {{a preset says everything: expected no setting beside it}}
func.func private @preset_and_more() attributes {a = #octavo.quantization<preset = "ocp", rule = ceil>}

// -----

// expected-error @+1 {{expected the name of a preset}}
func.func private @no_preset() attributes {a = #octavo.quantization<preset = "">}

// -----

// expected-error @+1 {{'least_amax' must be a finite f32, 0 or more}}
func.func private @negative_amax() attributes {a = #octavo.quantization<rule = floor, least_amax = -1.0>}

// -----

// expected-error @+1 {{'even_bits' must be at most 22}}
func.func private @even_bits() attributes {a = #octavo.quantization<rule = even, even_bits = 23>}

// -----

// expected-error @+1 {{(Q4) unknown preset "pytorch" for '!octavo.scaled<64xf8E5M2, scale f8E8M0FNU, block [32]>'; available: ocp, microxcaling, torchao-floor}}
func.func private @unknown_preset(!octavo.scaled<64xf8E5M2, scale f8E8M0FNU, block [32]> {octavo.quantize = #octavo.quantization<preset = "pytorch">})

// -----

// expected-error @+1 {{(Q4) unknown preset "ocp" for '!octavo.scaled<64xf8E5M2, scale f8E8M0FNU, block [2]>'; available: none}}
func.func private @no_preset_of_type(!octavo.scaled<64xf8E5M2, scale f8E8M0FNU, block [2]> {octavo.quantize = #octavo.quantization<preset = "ocp">})

// -----

// expected-error @+1 {{(Q5) torchao-rceil refuses axis 1 of '!octavo.scaled<4x70xf8E4M3FN, scale f8E8M0FNU, block [1, 32]>', which is not a multiple of its blocks of 32}}
func.func private @refused_edge(!octavo.scaled<4x70xf8E4M3FN, scale f8E8M0FNU, block [1, 32]> {octavo.quantize = #octavo.quantization<preset = "torchao-rceil">})

// -----

// expected-error @+1 {{(Q6) scale_values = powers-of-two limits scales of f32, found f8E8M0FNU}}
func.func private @limited(!octavo.scaled<64xf8E4M3FN, scale f8E8M0FNU, block [32]> {octavo.quantize = #octavo.quantization<rule = floor, scale_values = powers-of-two>})

// -----

// expected-error @+1 {{(Q8) an amax is given where one scale is of the whole tensor}}
func.func private @amax_of_blocks(!octavo.scaled<64xf8E4M3FN, scale f8E8M0FNU, block [32]> {octavo.quantize = #octavo.quantization<rule = floor, amax = 3.0>})

// -----

// expected-error @+1 {{'amax' must be a finite f32, 0 or more}}
func.func private @negative_amax(!octavo.scaled<64xf8E4M3FN, scale f32, block [64]> {octavo.quantize = #octavo.quantization<rule = nearest, amax = -3.0>})

// -----

// expected-error @+1 {{(Q7) zero_block is not a value of f8E8M0FNU}}
func.func private @wide_code(!octavo.scaled<64xf8E4M3FN, scale f8E8M0FNU, block [32]> {octavo.quantize = #octavo.quantization<rule = floor, zero_block = 3.0>})

// -----

// expected-error @+1 {{argument 0 has the unknown attribute octavo.nam; available: octavo.name, octavo.parameter, octavo.quantize, octavo.exponents}}
func.func private @unknown_attribute(tensor<4xf32> {octavo.nam = "w"})

// -----

// expected-error @+1 {{attribute octavo.quantize of argument 0 needs an argument of type !octavo.scaled, found 'tensor<4xf32>'}}
func.func private @not_scaled(tensor<4xf32> {octavo.quantize = #octavo.quantization<rule = floor>})

// -----

// expected-error @+1 {{attribute octavo.quantize of argument 0 needs #octavo.quantization<...>, found "floor"}}
func.func private @not_quantization(!octavo.scaled<64xf8E4M3FN, scale f32, block [32]> {octavo.quantize = "floor"})

// -----

// expected-error @+1 {{(Q2) scales of f32 have the rule nearest only, found floor}}
func.func private @rule_of_argument(!octavo.scaled<64xf8E4M3FN, scale f32, block [32]> {octavo.quantize = #octavo.quantization<rule = floor>})

// -----

// expected-error @+1 {{cannot round stochastically: binding has no random bits}}
func.func private @stochastic(!octavo.scaled<64xf8E4M3FN, scale f32, block [32]> {octavo.quantize = #octavo.quantization<rule = nearest, rounding = stochastic>})

// -----

// expected-error @+1 {{has the attribute octavo.parameter, which belongs on an argument of a function}}
func.func private @misplaced() attributes {octavo.parameter}

// -----

// expected-error @+1 {{the block extent of axis 0 is unknown, the axis has 4; write 4 for a block that spans the axis}}
func.func private @unknown_block(!octavo.scaled<4x64xf8E4M3FN, scale f32, block [?, 64]>)
