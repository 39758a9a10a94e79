// What quantize and dequantize do to values: mean relative error, QSNR, clipped blocks.
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

/// A scaled format and how values are brought to it: by a scale rule alone, or as an owner does.
struct Recipe {
  const format::ScaledFormat* format;
  std::string_view preset; ///< empty: the rule alone
  numerics::QuantizeOptions options;

  std::string_view ruleName() const { return format::scaleRuleName(options.rule); }
};

/// The recipes of a format: every rule that its scales can follow, in the order of kScaleRules,
/// with elements rounded to nearest, ties to even, that saturate (docs/semantics.md, S7); then
/// every preset of the format, in the order of numerics::kPresets.
std::vector<Recipe> recipes(const format::ScaledFormat& format);

/// The error of one recipe on one tensor. x is a value, y what it is after quantize and dequantize.
struct ErrorFigures {
  /// Mean of |y - x| / |x| over the values with x != 0 and finite y. A zero has no relative error
  /// and is left out (its y is 0 where it is finite). NaN where no value is left.
  double meanRelativeError;
  /// 10 log10(sum x^2 / sum (y - x)^2) in dB, over the values with finite y: infinite where nothing
  /// is lost, NaN where all x are 0.
  double qsnr;
  /// Blocks of which a value lies beyond the largest element times the scale by more than the
  /// rounding of f32 (2^-20 of it), as a share of all blocks; 0 where there are none.
  double clippedBlocks;
  std::int64_t zeros; ///< values with x = 0
  std::int64_t lost;  ///< values with y NaN or infinite, as where a preset does not saturate

  friend bool operator==(const ErrorFigures&, const ErrorFigures&) = default;
};

/// One recipe's line in a table.
struct ErrorRow {
  Recipe recipe;
  double bitsPerValue; ///< scales counted
  /// Bytes of one whole block with its scale; nothing where a block is a whole axis.
  std::optional<double> bytesPerBlock;
  ErrorFigures figures;
};

/// Measures a recipe on a row-major tensor, blocked along its last axis. All values are finite.
/// Takes 5 bytes a value of memory beside them. The same figures for any number of threads.
ErrorRow measure(std::span<const float> values, std::span<const std::int64_t> shape,
                 const Recipe& recipe, const kernels::Execution& execution = {});

/// The rows of every recipe of these formats, in their order: what `octavo analyze` prints of one
/// source of values.
std::vector<ErrorRow> measure(std::span<const float> values, std::span<const std::int64_t> shape,
                              std::span<const format::ScaledFormat* const> formats,
                              const kernels::Execution& execution = {});

} // namespace octavo::analysis
