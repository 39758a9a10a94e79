// The error of a quantization that is given what it refuses.
#pragma once

#include "octavo/Program/Values/OperationText.h"
#include "octavo/Program/Values/Value.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace octavo::program {

/// What lets such values in.
inline constexpr std::string_view kNonFiniteOptions =
    "--non-finite propagate makes the block NaN, --non-finite saturate takes an infinity for the "
    "largest value, --non-finite skip-nan does so too and leaves a NaN out of the block's scale "
    "(non_finite= in Python, non_finite in a recipe's rule, beside the format of a cache in "
    "kv_cache "
    "and in octavo.quantize)";

/// What every error says that tells of such values, before kNonFiniteOptions.
inline constexpr std::string_view kRefused = ", which its quantization refuses: ";
inline bool tellsOfRefusedInput(std::string_view error) {
  return error.find(kRefused) != std::string_view::npos;
}

/// That of octavo.quantize `op`, whose input has `value`, NaN or an infinity. `place` is where;
/// empty: not known.
std::string refusedInput(const OperationText& op, float value,
                         std::span<const std::int64_t> place = {});

/// Such an error with the place added, where it has none and says that one of a program's arguments
/// has the value: that of the first there. Others stay as they are.
std::string withPlace(std::string error, std::span<const std::string> arguments,
                      std::span<const Value> values);

} // namespace octavo::program
