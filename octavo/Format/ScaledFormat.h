// Scaled formats: elements on a grid of scales, value[i] = element[i] * scale[i / block].
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace octavo::format {

/// How a scale is chosen from the amax of its block, for E8M0 scales (powers of two). With
/// amax = m * 2^k (1 <= m < 2), M trailing significand bits and emax of the element format, the
/// scale is 2^e, e clamped to the range of the scale format. docs/semantics.md states every corner.
enum class ScaleRule : std::uint8_t {
  Floor,   ///< e = k - emax (OCP MX 6.3)
  Ceil,    ///< e = k - emax, plus 1 if m > 1
  Even,    ///< amax is first rounded to M + 1 significand bits, half up, then as Floor
  RoundUp, ///< smallest e with 2^e >= amax / max (cuBLAS, Transformer Engine, DeepSeek's ue8m0)
  Nearest, ///< amax / 2^emax rounded to nearest, ties up (XLA's __op$quantize). If the scale
           ///< format has a significand: amax / max rounded to nearest
};

struct ScaleRuleRow {
  ScaleRule rule;
  std::string_view name;
};
inline constexpr auto kScaleRules = std::to_array<ScaleRuleRow>({
    {ScaleRule::Floor, "floor"},
    {ScaleRule::Ceil, "ceil"},
    {ScaleRule::Even, "even"},
    {ScaleRule::RoundUp, "round-up"},
    {ScaleRule::Nearest, "nearest"},
});

/// A block extent that means the whole extent of the axis.
inline constexpr std::int64_t kWholeAxis = 0;

/// One scaled format. A block has `along` elements on the axis that a product contracts and
/// `across` on the last other axis. On every further axis its extent is 1, unless one block covers
/// the whole tensor.
struct ScaledFormat {
  std::string_view name;
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t across; ///< block extent on the last axis that is not contracted; 1 on the others
  std::int64_t along;  ///< block extent on the contracted axis
  bool hasOuterScale;  ///< also one f32 scale for the whole tensor (NVFP4)
  ScaleRule rule;      ///< the default rule
  std::string_view activation; ///< the scaled format of activations multiplied by such weights
  std::string_view source;

  /// The name without a block size such as ":16".
  constexpr std::string_view rowName() const { return name.substr(0, name.find(':')); }

  /// Whether all values of a tensor share a scale: the only scale, or an outer scale.
  constexpr bool hasScaleOfTensor() const {
    return hasOuterScale || (across == kWholeAxis && along == kWholeAxis);
  }
  /// Bits per value of a tensor of `shape`: its elements, scales and outer scale together.
  /// `contracted` is the axis of `along`. The tensor is not empty.
  double bitsPerValue(std::span<const std::int64_t> shape, int contracted) const;
};

/// The table. To add a scaled format, add a row here.
inline constexpr auto kScaledFormats = std::to_array<ScaledFormat>({
    // clang-format off
    //  name             element             scale                across      along       outer   rule                activation        source
    {"mxfp8_e4m3",  &element("e4m3fn"), &element("e8m0fnu"),          1,         32, false, ScaleRule::Floor,   "mxfp8_e4m3", "OCP MX 5.2, table 1"},
    {"mxfp8_e5m2",  &element("e5m2"),   &element("e8m0fnu"),          1,         32, false, ScaleRule::Floor,   "mxfp8_e5m2", "OCP MX 5.2, table 1"},
    {"mxfp6_e3m2",  &element("e3m2fn"), &element("e8m0fnu"),          1,         32, false, ScaleRule::Floor,   "mxfp6_e3m2", "OCP MX 5.2, table 1"},
    {"mxfp6_e2m3",  &element("e2m3fn"), &element("e8m0fnu"),          1,         32, false, ScaleRule::Floor,   "mxfp6_e2m3", "OCP MX 5.2, table 1"},
    {"mxfp4",       &element("e2m1fn"), &element("e8m0fnu"),          1,         32, false, ScaleRule::Floor,   "mxfp4",      "OCP MX 5.2, table 1"},
    {"mxint8",      &element("int8"),   &element("e8m0fnu"),          1,         32, false, ScaleRule::Floor,   "mxint8",     "OCP MX 5.2, table 1"},
    {"nvfp4",       &element("e2m1fn"), &element("e4m3fn"),           1,         16, true,  ScaleRule::Nearest, "nvfp4",      "NVIDIA Transformer Engine, NVFP4 recipe"},
    {"fp8_tensor",  &element("e4m3fn"), &element("f32"),     kWholeAxis, kWholeAxis, false, ScaleRule::Nearest, "fp8_tensor", "XLA discussion 22 (FP8 RFC), Scaling"},
    {"fp8_row",     &element("e4m3fn"), &element("f32"),              1, kWholeAxis, false, ScaleRule::Nearest, "fp8_row",    "cuBLAS, OUTER_VEC_32F"},
    {"fp8_e5m2_tensor", &element("e5m2"), &element("f32"),   kWholeAxis, kWholeAxis, false, ScaleRule::Nearest, "fp8_e5m2_tensor", "XLA discussion 22 (FP8 RFC), Scaling"},
    {"fp8_e5m2_row", &element("e5m2"),  &element("f32"),              1, kWholeAxis, false, ScaleRule::Nearest, "fp8_e5m2_row", "cuBLAS, OUTER_VEC_32F"},
    {"fp8_block",   &element("e4m3fn"), &element("f32"),            128,        128, false, ScaleRule::Nearest, "fp8_group",  "DeepSeek-V3, weights"},
    {"fp8_group",   &element("e4m3fn"), &element("f32"),              1,        128, false, ScaleRule::Nearest, "fp8_group",  "DeepSeek-V3, activations"},
    {"cfloat8_1_4_3_tensor", &element("cfloat8_1_4_3"), &element("e8m0fnu"), kWholeAxis, kWholeAxis, false, ScaleRule::RoundUp, "cfloat8_1_4_3_tensor", "Tesla, Configurable Floating Point Formats (2021), table 4"},
    {"cfloat8_1_5_2_tensor", &element("cfloat8_1_5_2"), &element("e8m0fnu"), kWholeAxis, kWholeAxis, false, ScaleRule::RoundUp, "cfloat8_1_5_2_tensor", "Tesla, Configurable Floating Point Formats (2021), table 5"},
// clang-format on
#include "octavo/Format/MoreScaledFormats.inc"
});

/// The range of block sizes in a name such as "mxfp4:16".
inline constexpr std::int64_t kLeastBlock = 8, kMostBlock = 1024;

/// The format named `name`; null if there is none. A colon and a power of two from kLeastBlock to
/// kMostBlock replace the block size of a format that has blocks: "mxfp4:16" is mxfp4 in blocks of
/// 16, "fp8_block:64" has blocks of 64 by 64. Equal names give equal pointers. Thread-safe.
const ScaledFormat* findScaledFormat(std::string_view name);

/// The rule named `name`; nullopt if there is none.
std::optional<ScaleRule> findScaleRule(std::string_view name);
std::string_view scaleRuleName(ScaleRule rule);

/// Block shape of `format` for a tensor of `shape`, with `along` elements on axis `contracted`. An
/// extent is at most the tensor's on that axis, and at least 1, also on an axis of extent 0.
std::vector<std::int64_t> blockShape(const ScaledFormat& format,
                                     std::span<const std::int64_t> shape, int contracted);

/// Shape of the grid of scales: ceil(shape / block), a short last block included.
std::vector<std::int64_t> scaleShape(std::span<const std::int64_t> shape,
                                     std::span<const std::int64_t> block);

} // namespace octavo::format
