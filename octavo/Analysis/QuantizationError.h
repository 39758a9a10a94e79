// The errors of quantize and dequantize on values: mean relative error, QSNR, clipped blocks.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Execution.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace octavo::analysis {

/// A scaled format and how values are quantized to it: by a scale rule, or by a preset.
struct Recipe {
  const format::ScaledFormat* format;
  std::string_view preset; ///< empty: the rule alone
  numerics::QuantizeOptions options;

  std::string_view ruleName() const { return format::scaleRuleName(options.rule); }
};

/// The recipes of a format:
/// - every rule that its scales can follow, in the order of kScaleRules; elements round to nearest,
///   ties to even, and saturate (docs/semantics.md, S7)
/// - every preset of the format, in the order of numerics::kPresets
std::vector<Recipe> recipes(const format::ScaledFormat& format);

/// The errors of one recipe on one tensor. x is a value, y its quantized and dequantized value.
struct ErrorFigures {
  /// Mean of |y - x| / |x| over the values with x != 0 and finite y. NaN if there are none.
  double meanRelativeError;
  /// 10 log10(sum x^2 / sum (y - x)^2) in dB, over the values with finite y. Infinite if nothing is
  /// lost, NaN if all x are 0.
  double qsnr;
  /// The share of blocks with a clipped value: one that exceeds the largest element times the scale
  /// by more than 2^-20 of itself, which the rounding of an f32 scale explains. 0 without blocks.
  double clippedBlocks;
  std::int64_t zeros; ///< values with x = 0
  std::int64_t lost;  ///< values with y NaN or infinite: a preset may not saturate

  friend bool operator==(const ErrorFigures&, const ErrorFigures&) = default;
};

/// A row of a table: one recipe.
struct ErrorRow {
  Recipe recipe;
  double bitsPerValue; ///< including scales
  /// Bytes of a whole block and its scale; nullopt if a block spans a whole axis.
  std::optional<double> bytesPerBlock;
  ErrorFigures figures;
};

/// Measures a recipe on a row-major tensor of finite values, with blocks along its last axis. Needs
/// 5 bytes of memory for each value besides the values. The result does not depend on the number of
/// threads.
ErrorRow measure(std::span<const float> values, std::span<const std::int64_t> shape,
                 const Recipe& recipe, const kernels::Execution& execution = {});

/// The rows of every recipe of these formats, in order: what `octavo analyze` prints for one source
/// of values.
std::vector<ErrorRow> measure(std::span<const float> values, std::span<const std::int64_t> shape,
                              std::span<const format::ScaledFormat* const> formats,
                              const kernels::Execution& execution = {});

} // namespace octavo::analysis
