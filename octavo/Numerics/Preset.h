// Presets: the settings that give an owner's bytes, one row for an owner and the formats it treats
// alike. docs/scale-rules.md shows them side by side and says what was compared with whom.
#pragma once

#include "octavo/Numerics/QuantizeOptions.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::numerics {

/// What the owner does with a last block that is not full. Padding with zeros gives the bytes of a
/// short block, which is what numerics::quantize makes of either. Where the owner refuses there are
/// no bytes to give: callers that quantize by a preset ask refusedAxis first, and refuse too.
enum class RaggedEdge : std::uint8_t { ShortBlock, ZeroPadded, Refused };

struct Preset {
  std::string_view name;
  std::array<std::string_view, 6> formats; ///< names of scaled formats; empty ones are not used
  QuantizeOptions options;
  RaggedEdge ragged;
  std::string_view source;
  /// Where the owner's own bytes are others, because they follow no rule; empty if nowhere known.
  std::string_view differs;

  constexpr bool appliesTo(const ScaledFormat& format) const {
    for (std::string_view name : formats)
      if (name == format.name)
        return true;
    return false;
  }
};

namespace detail {

// Codes of scale formats that rows name.
inline constexpr std::uint32_t kPowerNan = 0xFF;    // e8m0fnu
inline constexpr std::uint32_t kPowerLargest = 254; // 2^127
inline constexpr std::uint32_t kPowerOne = 127;
inline constexpr std::uint32_t kE4m3Zero = 0;
inline constexpr std::uint32_t kE4m3Eighth = 0x20;
inline constexpr std::uint32_t kE4m3MinNormal = 0x08; // 2^-6
inline constexpr auto kF32One = std::bit_cast<std::uint32_t>(1.0f);
inline constexpr auto kF32Epsilon = std::bit_cast<std::uint32_t>(0x1p-23f);

} // namespace detail

/// The table. Adding a preset is adding a row here.
inline constexpr auto kPresets = std::to_array<Preset>({
    {.name = "ocp",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8"},
     .options = {.rule = ScaleRule::Floor, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::ShortBlock,
     .source = "OCP MX 1.0, 5.1 and 6.3",
     .differs = ""},
    {.name = "microxcaling",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4", "mxint8"},
     .options = {.rule = ScaleRule::Floor,
                 .rounding = Rounding::TiesToAway,
                 .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "microsoft/microxcaling 7bc4195, mx/mx_ops.py",
     .differs = "an amax 1 or 2 ulp below a power of two is taken for that power (a log2 in f32); "
                "in an element's subnormal range 0.5 - 2^-25 units round up (0.5 added in f32)"},
    {.name = "torchao-floor",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Floor, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .differs = "version 0.18.0: elements under scale byte 0; Inf saturates"},
    {.name = "torchao-ceil",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Ceil, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .differs = "version 0.18.0: elements under scale byte 0; Inf saturates"},
    {.name = "torchao-even",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Propagate,
                 .corners = {.pastRange = detail::kPowerNan}},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .differs = "version 0.18.0: elements under scale byte 0; Inf, and an amax rounded to it, "
                "saturate"},
    {.name = "torchao-rceil",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::RoundUp, .nonFinite = NonFinite::Propagate},
     .ragged = RaggedEdge::Refused,
     .source = "pytorch/ao 36027d8, prototype/mx_formats/mx_tensor.py",
     .differs = "version 0.18.0: the scale through a log2 in f32; Inf saturates"},
    {.name = "torchao",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kE4m3MinNormal, .least = detail::kE4m3MinNormal},
                 .quotient = QuotientForm::TimesQuotient},
     .ragged = RaggedEdge::Refused,
     .source = "torchao 0.18.0, prototype/mx_formats/nvfp4_tensor.py",
     .differs = "NaN and Inf spread over the tensor; a tensor of zeros gives NaN"},
    {.name = "transformer-engine",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.infinite = detail::kPowerLargest}},
     .ragged = RaggedEdge::Refused,
     .source = "TransformerEngine d0067d0, common/util/ptx_arch_spec.cuh, common/cast/mxfp8",
     .differs = "the code of a NaN element has no sign there"},
    {.name = "transformer-engine",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kE4m3Zero, .least = detail::kE4m3Zero},
                 .ratio = BlockRatio::InverseFirst,
                 .outer = OuterForm::Inverse,
                 .quotient = QuotientForm::TimesInverse},
     .ragged = RaggedEdge::Refused,
     .source = "TransformerEngine d0067d0, common/cast/nvfp4/core_nvfp4.cuh",
     .differs = "NaN and Inf are not refused there"},
    {.name = "transformer-engine",
     .formats = {"fp8_tensor"},
     .options = {.rule = ScaleRule::Nearest,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.zero = detail::kF32One, .infinite = detail::kF32One},
                 .ratio = BlockRatio::Inverted,
                 .quotient = QuotientForm::TimesInverted},
     .ragged = RaggedEdge::ShortBlock,
     .source = "TransformerEngine d0067d0, common/recipe/recipe_common.cuh",
     .differs = "the code of a NaN element has no sign there"},
    {.name = "transformer-engine",
     .formats = {"fp8_group", "fp8_block"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::SkipNan,
                 .corners = {.zero = detail::kF32One, .infinite = detail::kF32One},
                 .scaleValues = ScaleValues::PowersOfTwo,
                 .ratio = BlockRatio::Inverted},
     .ragged = RaggedEdge::ShortBlock,
     .source = "TransformerEngine d0067d0, common/recipe/recipe_common.cuh, Float8BlockScaling",
     .differs = "the code of a NaN element has no sign there"},
    {.name = "deepseek-ue8m0",
     .formats = {"fp8_group"},
     .options = {.rule = ScaleRule::RoundUp,
                 .leastAmax = 1e-4f,
                 .scaleValues = ScaleValues::PowersOfTwo},
     .ragged = RaggedEdge::Refused,
     .source = "deepseek-ai/DeepSeek-V3 9b4e978, inference/kernel.py, act_quant",
     .differs = "NaN and Inf are not refused there"},
    {.name = "deepseek-ue8m0",
     .formats = {"fp8_block"},
     .options = {.rule = ScaleRule::RoundUp,
                 .leastAmax = 1e-4f,
                 .scaleValues = ScaleValues::PowersOfTwo,
                 .ratio = BlockRatio::Quotient},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "deepseek-ai/DeepGEMM, per_block_cast_to_fp8 with use_ue8m0",
     .differs = "the scale through a log2 in f32; NaN and Inf are not refused there"},
    {.name = "compressed-tensors",
     .formats = {"mxfp4"},
     .options =
         {.rule = ScaleRule::Even,
          .nonFinite = NonFinite::Saturate,
          .corners = {.nan = 0, .infinite = detail::kPowerOne, .pastRange = detail::kPowerOne},
          .zeroSign = ZeroSign::Positive},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/mxfp_utils.py",
     .differs =
         "elements of a block with Inf, or with an amax rounded to 2^128, are divided by Inf"},
    {.name = "compressed-tensors",
     .formats = {"mxfp6_e2m3"},
     .options =
         {.rule = ScaleRule::Even,
          .nonFinite = NonFinite::Saturate,
          .corners = {.nan = 0, .infinite = detail::kPowerOne, .pastRange = detail::kPowerOne}},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/mxfp_utils.py",
     .differs =
         "elements of a block with Inf, or with an amax rounded to 2^128, are divided by Inf"},
    {.name = "compressed-tensors",
     .formats = {"mxfp8_e4m3"},
     .options =
         {.rule = ScaleRule::Even,
          .nonFinite = NonFinite::Saturate,
          .corners = {.nan = 0, .infinite = detail::kPowerOne, .pastRange = detail::kPowerOne},
          .evenBits = 1},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/mxfp_utils.py",
     .differs =
         "elements of a block with Inf, or with an amax rounded to 2^128, are divided by Inf"},
    {.name = "compressed-tensors",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kE4m3Eighth, .underflow = detail::kE4m3Eighth},
                 .ratio = BlockRatio::InverseLast,
                 .outer = OuterForm::InverseOfReciprocal,
                 .quotient = QuotientForm::DividedByQuotient,
                 .zeroSign = ZeroSign::Positive},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/helpers.py",
     .differs = "NaN and Inf are not refused there"},
    {.name = "compressed-tensors",
     .formats = {"fp8_tensor", "fp8_row", "fp8_block", "fp8_group"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kF32Epsilon, .underflow = detail::kF32Epsilon}},
     .ragged = RaggedEdge::Refused,
     .source = "compressed-tensors 0.20, quantization/utils/helpers.py, f32 scales",
     .differs = "NaN and Inf are not refused there"},
    {.name = "quark",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp6_e3m2", "mxfp6_e2m3", "mxfp4"},
     .options = {.rule = ScaleRule::Even,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.zero = 1,
                             .nan = detail::kPowerOne,
                             .infinite = detail::kPowerLargest,
                             .pastRange = detail::kPowerLargest,
                             .least = 1}},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Quark 0.13, torch/quantization/utils.py, scale_calculation_mode even",
     .differs = "elements of a block below the scale 2^-126 are divided by 2^-127 there"},
    {.name = "modelopt",
     .formats = {"mxfp8_e4m3"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::Saturate,
                 .corners = {.nan = 0, .infinite = detail::kPowerLargest},
                 .ratio = BlockRatio::Quotient},
     .ragged = RaggedEdge::Refused,
     .source = "Model-Optimizer 0.47, quantization/qtensor/mxfp8_tensor.py",
     .differs = "an amax one ulp over an edge is not bumped (a log2 in f32)"},
    {.name = "modelopt",
     .formats = {"mxfp4"},
     .options = {.rule = ScaleRule::RoundUp,
                 .rounding = Rounding::TiesTowardZero,
                 .ratio = BlockRatio::Quotient,
                 .zeroSign = ZeroSign::Negative},
     .ragged = RaggedEdge::Refused,
     .source = "Model-Optimizer 0.47, quantization/qtensor/mxfp4_tensor.py",
     .differs = "an amax one ulp over an edge is not bumped (a log2 in f32); NaN and Inf are not "
                "refused there"},
    {.name = "modelopt",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .ratio = BlockRatio::JointQuotient,
                 .zeroSign = ZeroSign::Positive},
     .ragged = RaggedEdge::ZeroPadded,
     .source = "Model-Optimizer 0.47, quantization/qtensor/nvfp4_tensor.py",
     .differs = "NaN and Inf are not refused there; a tensor of zeros gives NaN; where amax / (max "
                "* outer) is 0 in f32 the scale is 1"},
    {.name = "xla",
     .formats = {"mxfp8_e4m3", "mxfp8_e5m2", "mxfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .overflow = Overflow::Special,
                 .nonFinite = NonFinite::Propagate,
                 .corners = {.zero = detail::kPowerNan}},
     .ragged = RaggedEdge::Refused,
     .source = "XLA, __op$quantize (openxla discussion 18085)",
     .differs = "between the two smallest scales it rounds up"},
    {.name = "jax",
     .formats = {"mxfp8_e4m3"},
     .options = {.rule = ScaleRule::RoundUp,
                 .nonFinite = NonFinite::Propagate,
                 .ratio = BlockRatio::Quotient},
     .ragged = RaggedEdge::Refused,
     .source = "JAX 0.10.2, jax/_src/cudnn/scaled_matmul_stablehlo.py",
     .differs = "XLA on CPUs takes subnormals of f32 for 0, so that blocks below 2^-117 differ; a "
                "block with "
                "NaN gets scale byte 0"},
    {.name = "jax",
     .formats = {"nvfp4"},
     .options = {.rule = ScaleRule::Nearest,
                 .corners = {.zero = detail::kE4m3Zero, .least = detail::kE4m3Zero},
                 .ratio = BlockRatio::OuterFirst,
                 .quotient = QuotientForm::Successive},
     .ragged = RaggedEdge::Refused,
     .source = "JAX 0.10.2, jax/_src/cudnn/scaled_matmul_stablehlo.py",
     .differs = "0 / 0 gives NaN in a block of scale 0; NaN and Inf are not refused there"},
});

/// All rows, in the order of the table; the rows of one name follow one another by format.
std::span<const Preset> presets();

/// The row of that name for that format; null if there is none.
const Preset* findPreset(std::string_view name, const ScaledFormat& format);

/// The names of the presets of a format, in the order of the table: what a message offers.
std::vector<std::string_view> presetNames(const ScaledFormat& format);

/// An axis whose length is no multiple of the format's block there.
struct RefusedAxis {
  std::size_t axis;
  std::int64_t block; ///< its extent on that axis
};
/// The last axis of a tensor at whose end a block of `format` is not full, if the owner of the
/// preset refuses that. `contracted` is as for format::blockShape.
std::optional<RefusedAxis> refusedAxis(const Preset& preset, const ScaledFormat& format,
                                       std::span<const std::int64_t> shape, int contracted);

/// One setting of a row, as text: {"rule", "round-up"}, {"zero block", "0x00 (2^-127)"}.
struct Setting {
  std::string_view name;
  std::string value;
  bool operator==(const Setting&) const = default;
};
/// Every setting of a row as it acts on `format`, one of its formats, in a fixed order.
std::vector<Setting> settings(const Preset& preset, const ScaledFormat& format);

/// A preset on those of its formats whose settings read alike: the bits that `even` keeps, for one,
/// follow the element format, so that one row of kPresets can be several of these.
struct PresetOnFormats {
  const Preset* preset;
  std::vector<const ScaledFormat*> formats; ///< at least one, in the table's order
  std::vector<Setting> settings;
};
/// All presets on all of their formats: what listings show.
std::vector<PresetOnFormats> presetsOnFormats();

} // namespace octavo::numerics
