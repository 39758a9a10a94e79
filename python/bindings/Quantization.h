// The settings of a quantization, as calls name them.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Scaled.h"

#include <optional>
#include <string>

namespace octavo::python {

/// Names of settings; what is not named is the preset's or the format's.
struct QuantizeNames {
  const std::optional<std::string>& rule;
  const std::optional<std::string>& preset;
  const std::optional<std::string>& rounding;
  const std::optional<std::string>& overflow;
  const std::optional<std::string>& nan;
};

/// The preset's options, or the format's own, with what was named in place. Raises FormatError.
numerics::QuantizeOptions quantizeOptions(const format::ScaledFormat& format,
                                          const QuantizeNames& names);

/// Raises FormatError where the format has no outer scale, or the preset leaves it 1.
void checkTakesOuter(const format::ScaledFormat& format, const numerics::QuantizeOptions& options);

/// An outer scale that the caller gives. Raises FormatError as checkTakesOuter, and for a value
/// that is not positive and finite.
numerics::OuterScale givenOuterScale(const format::ScaledFormat& format, float value,
                                     const numerics::QuantizeOptions& options);

} // namespace octavo::python
