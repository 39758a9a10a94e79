// Settings of a quantization, given by name.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/QuantizeOptions.h"

#include <tl/expected.hpp>

#include <string>

namespace octavo::numerics {

/// Names of settings. An empty name takes the preset's setting, or the format's default if no
/// preset is named.
struct OptionNames {
  std::string preset, rule, rounding, overflow, nonFinite;
};

/// The options that `names` give for `format`. The error reports the first unknown name:
/// `unknown rule, "up"`.
tl::expected<QuantizeOptions, std::string> optionsOf(const format::ScaledFormat& format,
                                                     const OptionNames& names);

} // namespace octavo::numerics
