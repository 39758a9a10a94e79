// Settings of a quantization by their names.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/QuantizeOptions.h"

#include <tl/expected.hpp>

#include <string>

namespace octavo::numerics {

/// An empty name leaves a setting as the preset has it, or, without one, as the format does.
struct OptionNames {
  std::string preset, rule, rounding, overflow, nonFinite;
};

/// The error names the first that there is not: `unknown rule, "up"`.
tl::expected<QuantizeOptions, std::string> optionsOf(const format::ScaledFormat& format,
                                                     const OptionNames& names);

} // namespace octavo::numerics
