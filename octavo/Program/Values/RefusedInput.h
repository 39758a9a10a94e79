// Error messages for values that a quantization refuses: NaN and infinities.
#pragma once

#include "octavo/Program/Values/OperationText.h"
#include "octavo/Program/Values/Value.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace octavo::program {

/// The options that accept such values.
inline constexpr std::string_view kNonFiniteOptions =
    "--non-finite propagate makes the block NaN, --non-finite saturate takes an infinity for the "
    "largest value, --non-finite skip-nan does so too and leaves a NaN out of the block's scale "
    "(non_finite= in Python, non_finite in a recipe's rule, beside the format of a cache in "
    "kv_cache "
    "and in octavo.quantize)";

/// The phrase of every such error, before kNonFiniteOptions.
inline constexpr std::string_view kRefused = ", which its quantization refuses: ";
/// Whether an error is one of these.
inline bool tellsOfRefusedInput(std::string_view error) {
  return error.find(kRefused) != std::string_view::npos;
}

/// The error of octavo.quantize `op`, whose input contains `value`, a NaN or an infinity, at index
/// `place`; empty: unknown.
std::string refusedInput(const OperationText& op, float value,
                         std::span<const std::int64_t> place = {});

/// Adds the index to such an error if it has none and names an argument of the program: that of the
/// first such value in the argument. Other errors are returned unchanged.
std::string withPlace(std::string error, std::span<const std::string> arguments,
                      std::span<const Value> values);

} // namespace octavo::program
