// The error of a quantization that is given what it refuses.
#pragma once

#include "octavo/Execution/OperationText.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace octavo::execution {

/// What lets such values in.
inline constexpr std::string_view kNonFiniteOptions =
    "--non-finite propagate makes the block NaN, --non-finite saturate takes an infinity for the "
    "largest value (non_finite= in Python, non_finite in a recipe's rule and in octavo.quantize)";

/// That of octavo.quantize `op`, whose input has `value`, NaN or an infinity. `place` is where;
/// empty: not known.
std::string refusedInput(const OperationText& op, float value,
                         std::span<const std::int64_t> place = {});

} // namespace octavo::execution
