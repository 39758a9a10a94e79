// The options of a quantization by the names that Python's callers use.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Scaled.h"

#include <optional>
#include <string>

namespace octavo::python {

/// The named settings. A setting without a name is the preset's or the format's.
struct QuantizeNames {
  const std::optional<std::string>& rule;
  const std::optional<std::string>& preset;
  const std::optional<std::string>& rounding;
  const std::optional<std::string>& overflow;
  const std::optional<std::string>& nan;
};

/// The preset's or the format's options, overridden by the named settings. Raises FormatError.
numerics::QuantizeOptions quantizeOptions(const format::ScaledFormat& format,
                                          const QuantizeNames& names);

/// Raises FormatError if the format has no outer scale, or if the preset fixes it to 1.
void checkTakesOuter(const format::ScaledFormat& format, const numerics::QuantizeOptions& options);

/// The outer scale that the caller passes. Raises FormatError as checkTakesOuter does, and for a
/// value that is not positive and finite.
numerics::OuterScale givenOuterScale(const format::ScaledFormat& format, float value,
                                     const numerics::QuantizeOptions& options);

} // namespace octavo::python
