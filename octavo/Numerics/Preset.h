// Presets: the settings that reproduce the bytes of a library (the preset's owner). Each row has an
// owner and the formats that it treats alike. docs/scale-rules.md compares the rows and says how
// each was tested.
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::numerics {

/// The owner's treatment of a last block that is not full. numerics::quantize makes a short block,
/// which has the same bytes as a block padded with zeros. If the owner refuses such a tensor, the
/// caller must refuse it too: call refusedAxis before quantizing by a preset.
enum class RaggedEdge : std::uint8_t { ShortBlock, ZeroPadded, Refused };

/// One row: the settings of an owner for some formats.
struct Preset {
  std::string_view name;
  std::array<std::string_view, 6> formats; ///< names of scaled formats; empty ones are not used
  QuantizeOptions options;
  RaggedEdge ragged;
  std::string_view source;
  /// The input types for which the row gives the owner's bytes. The owner refuses other types, or
  /// computes differently in them.
  std::string_view inputs;
  /// Known inputs for which the owner's bytes differ, because they follow no rule; empty if none.
  std::string_view differs;
  /// For formats with one scale per tensor: whether the owner gives one scale to projections that
  /// readers fuse (q, k and v; gate and up). Outer scales are always shared: readers need that.
  bool sharesScales = false;

  constexpr bool appliesTo(const ScaledFormat& format) const {
    for (std::string_view name : formats)
      if (name == format.rowName())
        return true;
    return false;
  }
};

namespace detail {

// Scales that the rows use.
inline constexpr GivenScale kNan{std::numeric_limits<float>::quiet_NaN()};
inline constexpr GivenScale kZero{0.0f};
inline constexpr GivenScale kTwoToMinus127{0x1p-127f};
inline constexpr GivenScale kTwoToMinus126{0x1p-126f};
inline constexpr GivenScale kTwoToMinus56{0x1p-56f};
inline constexpr GivenScale kTwoToMinus48{0x1p-48f};
inline constexpr GivenScale kTwoToMinus23{0x1p-23f};
inline constexpr GivenScale kTwoToMinus6{0x1p-6f};
inline constexpr GivenScale kEighth{0.125f};
inline constexpr GivenScale kOne{1.0f};
inline constexpr GivenScale kTwoTo127{0x1p127f};

} // namespace detail

/// The table. To add a preset, add a row here.
inline constexpr auto kPresets = std::to_array<Preset>({
    {.name = "ocp",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8"},
     .options = {.rule = ScaleRule::Floor, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::ShortBlock,
     .source = "OCP MX 1.0, 5.1 and 6.3",
     .inputs = "f32, bf16, f16",
     .differs = ""},
    {.name = "microxcaling",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8"},
     .options = {.rule = ScaleRule::Floor,
                 .rounding = Rounding::TiesToAway,
                 .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "microsoft/microxcaling 7bc4195, mx/mx_ops.py",
     .inputs = "f32, bf16",
     .differs = "an amax 1 or 2 ulp below a power of two is taken for that power (a log2 in f32); "
                "in an element's subnormal range 0.5 - 2^-25 units round up (0.5 added in f32)"},
    {.name = "torchao-floor",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Floor, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .inputs = "f32, bf16",
     .differs = "version 0.18.0: elements under scale byte 0; Inf saturates"},
    {.name = "torchao-ceil",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Ceil, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .inputs = "f32, bf16",
     .differs = "version 0.18.0: elements under scale byte 0; Inf saturates"},
    {.name = "torchao-even",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Propagate,
                 .corners = {.pastRange = detail::kNan}},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .inputs = "f32, bf16",
     .differs =
         "version 0.18.0: elements under scale byte 0; Inf, and an amax rounded to it, saturate"},
    {.name = "torchao-rceil",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::RoundUp, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .inputs = "f32, bf16",
     .differs = "version 0.18.0: the scale through a log2 in f32; elements under scale byte 0; Inf "
                "saturates"},
    {.name = "torchao",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kTwoToMinus6, .least = detail::kTwoToMinus6},
                 .quotient = QuotientForm::TimesQuotient},
     .ragged = RaggedEdge::Refused,
     .source = "torchao 0.18.0, prototype/mx_formats/nvfp4_tensor.py",
     .inputs = "f32, bf16",
     .differs = "NaN and Inf spread over the tensor; a tensor of zeros gives NaN; in one whose "
                "amax is below 7.9e-36 a zero becomes -1.5 (0 * Inf)"},
    {.name = "torchao-single-level",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kTwoToMinus6, .least = detail::kTwoToMinus6},
                 .outer = OuterForm::One,
                 .quotient = QuotientForm::TimesQuotient},
     .ragged = RaggedEdge::Refused,
     .source = "torchao 0.18.0, prototype/mx_formats/nvfp4_tensor.py, without per_tensor_scale",
     .inputs = "f32, bf16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "torch",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .nonFinite = NonFinite::Propagate,
                 .ratio = BlockRatio::Quotient},
     .ragged = RaggedEdge::Refused,
     .source = "torch 2.15: (amax / max).to(torch.float8_e8m0fnu), (x / scale).to(the element)",
     .inputs = "f32, bf16, f16",
     .differs = "fp6 and fp4, which torch does not convert to, are rounded as the others"},
    {.name = "transformer-engine",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.infinite = detail::kTwoTo127}},
     .ragged = RaggedEdge::Refused,
     .source = "TransformerEngine d0067d0, common/util/ptx_arch_spec.cuh, common/cast/mxfp8",
     .inputs = "f32, bf16, f16",
     .differs = ""},
    {.name = "transformer-engine",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kZero, .least = detail::kZero},
                 .ratio = BlockRatio::InverseFirst,
                 .outer = OuterForm::Inverse,
                 .quotient = QuotientForm::TimesInverse},
     .ragged = RaggedEdge::Refused,
     .source = "TransformerEngine d0067d0, common/cast/nvfp4/core_nvfp4.cuh",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "transformer-engine",
     .formats = {"fp8_tensor", "fp8_e5m2_tensor"},
     .options = {.rule = ScaleRule::Nearest,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.zero = detail::kOne, .infinite = detail::kOne},
                 .ratio = BlockRatio::Inverted,
                 .quotient = QuotientForm::TimesInverted},
     .ragged = RaggedEdge::ShortBlock,
     .source = "TransformerEngine d0067d0, common/recipe/recipe_common.cuh",
     .inputs = "f32, bf16, f16",
     .differs = ""},
    {.name = "transformer-engine",
     .formats = {"fp8_group", "fp8_block"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.zero = detail::kOne, .infinite = detail::kOne},
                 .scaleValues = ScaleValues::PowersOfTwo,
                 .ratio = BlockRatio::Inverted},
     .ragged = RaggedEdge::ShortBlock,
     .source = "TransformerEngine d0067d0, common/recipe/recipe_common.cuh, Float8BlockScaling",
     .inputs = "f32, bf16, f16",
     .differs = ""},
    {.name = "deepseek-ue8m0",
     .formats = {"fp8_group"},
     .options = {.rule = ScaleRule::RoundUp,
                 .leastAmax = 1e-4f,
                 .scaleValues = ScaleValues::PowersOfTwo},
     .ragged = RaggedEdge::Refused,
     .source = "deepseek-ai/DeepSeek-V3 9b4e978, inference/kernel.py, act_quant",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "deepseek-ue8m0",
     .formats = {"fp8_block"},
     .options = {.rule = ScaleRule::RoundUp,
                 .leastAmax = 1e-4f,
                 .scaleValues = ScaleValues::PowersOfTwo,
                 .ratio = BlockRatio::Quotient},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "deepseek-ai/DeepGEMM, per_block_cast_to_fp8 with use_ue8m0",
     .inputs = "f32, bf16, f16",
     .differs = "the scale through a log2 in f32; NaN and Inf are not refused there"},
    {.name = "compressed-tensors",
     .formats = {"mxfp4"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.nan = detail::kTwoToMinus127,
                             .infinite = detail::kOne,
                             .pastRange = detail::kOne},
                 .zeroSign = ZeroSign::Positive},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/mxfp_utils.py",
     .inputs = "f32, bf16",
     .differs =
         "a block with NaN has scale byte 0, or 127 in small tensors, and NaN is code 0 or 8; "
         "of one with Inf, or with an amax rounded to 2^128, elements are divided by Inf: "
         "0 or 8"},
    {.name = "compressed-tensors",
     .formats = {"mxfp6_e2m3"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.nan = detail::kTwoToMinus127,
                             .infinite = detail::kOne,
                             .pastRange = detail::kOne}},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/mxfp_utils.py",
     .inputs = "f32, bf16",
     .differs = "a block with NaN has scale byte 0, or 127 in small tensors, and NaN is code 0 or "
                "32; of one with Inf, or with an amax rounded to 2^128, elements are divided by "
                "Inf: 0 or 32"},
    {.name = "compressed-tensors",
     .formats = {"mxfp8_e4m3"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.nan = detail::kTwoToMinus127,
                             .infinite = detail::kOne,
                             .pastRange = detail::kOne},
                 .evenBits = 1},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/mxfp_utils.py",
     .inputs = "f32, bf16",
     .differs =
         "a block with NaN has scale byte 0, or 127 in small tensors, and NaN is code 127 or 255, "
         "as "
         "the processor signs it; of one with Inf, or with an amax rounded to 2^128, elements are "
         "divided by Inf: 0 or 128, Inf 127 or 255"},
    {.name = "compressed-tensors",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kEighth, .underflow = detail::kEighth},
                 .ratio = BlockRatio::InverseLast,
                 .outer = OuterForm::InverseOfReciprocal,
                 .quotient = QuotientForm::DividedByQuotient,
                 .zeroSign = ZeroSign::Positive,
                 .inInputType = {.outer = true, .ratio = true}},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/helpers.py",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "compressed-tensors",
     .formats = {"fp8_tensor", "fp8_row", "fp8_group"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.inputEpsilon = true},
                 .inInputType = {.ratio = true, .quotient = true}},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/helpers.py",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "compressed-tensors",
     .formats = {"fp8_block"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.inputEpsilon = true},
                 .inInputType = {.ratio = true, .quotient = true}},
     .ragged = RaggedEdge::ZeroPadded,
     .source =
         "compressed-tensors 0.20, quantization/utils/helpers.py, maybe_pad_tensor_for_block_quant",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "quark",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = detail::kTwoToMinus126,
                             .nan = detail::kOne,
                             .infinite = detail::kTwoTo127,
                             .pastRange = detail::kTwoTo127,
                             .least = detail::kTwoToMinus126}},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/utils.py, scale_calculation_mode even",
     .inputs = "f32, bf16, f16",
     .differs = "elements of a block below the scale 2^-126 are divided by its own 2^-127; "
                "elements of a block with NaN are NaN"},
    {.name = "quark",
     .formats = {"mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = detail::kTwoToMinus126,
                             .nan = detail::kOne,
                             .infinite = detail::kTwoTo127,
                             .pastRange = detail::kTwoTo127,
                             .least = detail::kTwoToMinus126},
                 .zeroSign = ZeroSign::PositiveRounded},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/utils.py, scale_calculation_mode even",
     .inputs = "f32, bf16, f16",
     .differs =
         "elements of a block below the scale 2^-126 are divided by its own 2^-127; of a block "
         "with NaN all elements are NaN, which it writes as code 7 or 15 of e2m1fn, 28 or 60 of "
         "e2m3fn, 30 or 62 of e3m2fn; an Inf is code 6 or 14, 24 or 56, 28 or 60"},
    {.name = "quark",
     .formats = {"fp8_tensor", "fp8_row", "fp8_e5m2_tensor", "fp8_e5m2_row"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kTwoToMinus23, .underflow = detail::kTwoToMinus23},
                 .inInputType = {.ratio = true, .quotient = true}},
     .ragged = RaggedEdge::ShortBlock,
     .source = "Quark 0.13, torch/quantization/observer/observer.py, scales of the model's type",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "quark-floor",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2"},
     .options = {.rule = ScaleRule::Floor,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = detail::kTwoToMinus23,
                             .nan = detail::kOne,
                             .infinite = detail::kOne,
                             .least = detail::kTwoToMinus126},
                 .exponent = ExponentForm::Log2,
                 .inInputType = {.ratio = true}},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/observer/observer.py, scale_calculation_mode floor",
     .inputs = "f32, bf16",
     .differs = "elements of a block below the scale 2^-126 are divided by its own scale, which is "
                "2^-23 where it has none (below 2^-149, of bf16 2^-133); elements of a block with "
                "NaN or Inf are NaN"},
    {.name = "quark-floor",
     .formats = {"mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Floor,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = detail::kTwoToMinus23,
                             .nan = detail::kOne,
                             .infinite = detail::kOne,
                             .least = detail::kTwoToMinus126},
                 .exponent = ExponentForm::Log2,
                 .zeroSign = ZeroSign::PositiveRounded,
                 .inInputType = {.ratio = true}},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/observer/observer.py, scale_calculation_mode floor",
     .inputs = "f32, bf16",
     .differs = "elements of a block below the scale 2^-126 are divided by its own scale, which is "
                "2^-23 where it has none (below 2^-149, of bf16 2^-133); elements of a block with "
                "NaN or Inf are NaN, written as under quark"},
    {.name = "quark-ceil",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2"},
     .options = {.rule = ScaleRule::Ceil,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = detail::kTwoToMinus23,
                             .nan = detail::kOne,
                             .infinite = detail::kOne,
                             .least = detail::kTwoToMinus126},
                 .exponent = ExponentForm::Log2,
                 .inInputType = {.ratio = true}},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/observer/observer.py, scale_calculation_mode ceil",
     .inputs = "f32, bf16",
     .differs = "elements of a block below the scale 2^-126 are divided by its own scale, which is "
                "2^-23 where it has none (below 2^-149, of bf16 2^-133); elements of a block with "
                "NaN or Inf are NaN"},
    {.name = "quark-ceil",
     .formats = {"mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Ceil,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = detail::kTwoToMinus23,
                             .nan = detail::kOne,
                             .infinite = detail::kOne,
                             .least = detail::kTwoToMinus126},
                 .exponent = ExponentForm::Log2,
                 .zeroSign = ZeroSign::PositiveRounded,
                 .inInputType = {.ratio = true}},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/observer/observer.py, scale_calculation_mode ceil",
     .inputs = "f32, bf16",
     .differs = "elements of a block below the scale 2^-126 are divided by its own scale, which is "
                "2^-23 where it has none (below 2^-149, of bf16 2^-133); elements of a block with "
                "NaN or Inf are NaN, written as under quark"},
    {.name = "modelopt",
     .formats = {"mxfp8_e4m3"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.nan = detail::kTwoToMinus127, .infinite = detail::kTwoTo127},
                 .ratio = BlockRatio::Quotient,
                 .exponent = ExponentForm::Log2},
     .ragged = RaggedEdge::Refused,
     .source = "Model-Optimizer 0.47, quantization/qtensor/mxfp8_tensor.py",
     .inputs = "f32, bf16, f16",
     .differs = ""},
    {.name = "modelopt",
     .formats = {"mxfp4"},
     .options = {.rule = ScaleRule::RoundUp,
                 .rounding = Rounding::TiesTowardZero,
                 .ratio = BlockRatio::Quotient,
                 .exponent = ExponentForm::Log2,
                 .zeroSign = ZeroSign::Negative},
     .ragged = RaggedEdge::Refused,
     .source = "Model-Optimizer 0.47, quantization/qtensor/mxfp4_tensor.py",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there"},
    {.name = "modelopt",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .ratio = BlockRatio::JointQuotient,
                 .zeroSign = ZeroSign::Positive},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Model-Optimizer 0.47, quantization/qtensor/nvfp4_tensor.py",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there; a tensor of zeros gives NaN; where amax / (max "
                "* outer) is 0 in f32 the scale is 1"},
    {.name = "modelopt",
     .formats = {"fp8_tensor"},
     .options = {.rule = ScaleRule::Nearest, .inInputType = {.quotient = true}},
     .ragged = RaggedEdge::ShortBlock,
     .source = "Model-Optimizer 0.47, export/unified_export_hf.py, FP8",
     .inputs = "f32, bf16, f16",
     .differs = "NaN and Inf are not refused there; a tensor of zeros gives NaN",
     .sharesScales = true}, // export/quant_utils.py, preprocess_linear_fusion
    {.name = "modelopt",
     .formats = {"fp8_row"},
     .options =
         {
             .rule = ScaleRule::Nearest,
             .corners = {.zero = detail::kOne},
         },
     .ragged = RaggedEdge::ShortBlock,
     .source = "Model-Optimizer 0.47, export/quant_utils.py, FP8_PER_CHANNEL_PER_TOKEN",
     .inputs = "f32, bf16, f16",
     .differs = "an amax below 2^-126 counts as that; NaN and Inf are not refused there"},
    {.name = "modelopt",
     .formats = {"fp8_block"},
     .options =
         {
             .rule = ScaleRule::Nearest,
             .corners = {.zero = detail::kOne},
         },
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Model-Optimizer 0.47, export/quant_utils.py, FP8_PB_WO",
     .inputs = "f32, bf16, f16",
     .differs = "an amax below 2^-126 counts as that; NaN and Inf are not refused there"},
    {.name = "xla",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .overflow = Overflow::Special,
                 .nonFinite = NonFinite::Propagate,
                 .corners = {.zero = detail::kNan}},
     .ragged = RaggedEdge::Refused,
     .source = "XLA, __op$quantize (openxla discussion 18085)",
     .inputs = "f32, bf16, f16",
     .differs = ""},
    {.name = "jax",
     .formats = {"mxfp8_e4m3"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::Propagate,
                 .ratio = BlockRatio::Quotient},
     .ragged = RaggedEdge::Refused,
     .source = "JAX 0.10.2, jax/_src/cudnn/scaled_matmul_stablehlo.py",
     .inputs = "f32, bf16",
     .differs = "XLA on CPUs takes subnormals of f32 for 0, so that blocks below 2^-117 differ; a "
                "block with NaN gets scale byte 0"},
    {.name = "jax",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kZero, .least = detail::kZero},
                 .ratio = BlockRatio::OuterFirst,
                 .quotient = QuotientForm::Successive},
     .ragged = RaggedEdge::Refused,
     .source = "JAX 0.10.2, jax/_src/cudnn/scaled_matmul_stablehlo.py",
     .inputs = "f32, bf16, f16",
     .differs =
         "0 / 0 gives NaN in a block of scale 0; NaN and Inf are not refused there; XLA on CPUs "
         "rounds some ties of e2m1fn to the odd neighbour, on some processors under jit, too"},
    {.name = "jax-single-level",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kZero, .least = detail::kZero},
                 .ratio = BlockRatio::OuterFirst,
                 .outer = OuterForm::One,
                 .quotient = QuotientForm::Successive},
     .ragged = RaggedEdge::Refused,
     .source = "JAX 0.10.2, jax/_src/cudnn/scaled_matmul_stablehlo.py, the default global scale",
     .inputs = "f32, bf16, f16",
     .differs =
         "0 / 0 gives NaN in a block of scale 0; NaN and Inf are not refused there; XLA on CPUs "
         "rounds some ties of e2m1fn to the odd neighbour, on some processors under jit, too"},
    {.name = "tesla",
     .formats = {"cfloat8_1_4_3_tensor"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.zero = detail::kOne,
                             .infinite = detail::kOne,
                             .least = detail::kTwoToMinus56}},
     .ragged = RaggedEdge::ShortBlock,
     .source = "Tesla, Configurable Floating Point Formats (2021): biases of 6 bits, NaN and Inf "
               "clamped",
     .inputs = "f32, bf16, f16",
     .differs = "the paper has no rule for the bias; an amax above 61440 needs one below 0"},
    {.name = "tesla",
     .formats = {"cfloat8_1_5_2_tensor"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.zero = detail::kOne,
                             .infinite = detail::kOne,
                             .least = detail::kTwoToMinus48}},
     .ragged = RaggedEdge::ShortBlock,
     .source = "Tesla, Configurable Floating Point Formats (2021): biases of 6 bits, NaN and Inf "
               "clamped",
     .inputs = "f32, bf16, f16",
     .differs = "the paper has no rule for the bias; an amax above 2^15 * 114688 needs "
                "one below 0"},
});

/// All rows, in the order of the table. Rows of one name are adjacent.
std::span<const Preset> presets();

/// The row of that name for `format`; null if there is none.
const Preset* findPreset(std::string_view name, const ScaledFormat& format);

/// The names of the presets of `format`, in the order of the table, for error messages.
std::vector<std::string_view> presetNames(const ScaledFormat& format);

/// An axis whose extent is not a multiple of the block's extent on it.
struct RefusedAxis {
  std::size_t axis;
  std::int64_t block; ///< its extent on that axis
};
/// The last axis whose extent is not a multiple of the block of `format`, if the preset's owner
/// refuses such tensors; else nullopt. `contracted` is as for format::blockShape.
std::optional<RefusedAxis> refusedAxis(const Preset& preset, const ScaledFormat& format,
                                       std::span<const std::int64_t> shape, int contracted);

/// One setting of a row as text: {"rule", "round-up"}, {"zero block", "0x00 (2^-127)"}.
struct Setting {
  std::string_view name;
  std::string value;
  bool operator==(const Setting&) const = default;
};
/// The settings of a row as they act on `format`, one of the row's formats, in a fixed order.
std::vector<Setting> settings(const Preset& preset, const ScaledFormat& format);

/// A preset and those of its formats that have equal settings as text. A row of kPresets can give
/// several of these: the bits that `even` keeps, for example, depend on the element format.
struct PresetOnFormats {
  const Preset* preset;
  std::vector<const ScaledFormat*> formats; ///< at least one, in the table's order
  std::vector<Setting> settings;
};
/// All presets with all of their formats, for listings.
std::vector<PresetOnFormats> presetsOnFormats();

} // namespace octavo::numerics
