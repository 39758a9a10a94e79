// The options that set how a subcommand quantizes weights: rule, preset, policy.
#pragma once

#include "tools/octavo/Commands.h"

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Numerics/Preset.h"

#include <string>

namespace octavo::tools {

/// The values of the options; empty: not given.
struct QuantizeFlags {
  std::string rule;
  std::string preset;
  std::string nonFinite;
};

/// Adds --format. Its help begins with `help` and lists all scaled formats.
CLI::Option* addFormatOption(CLI::App& command, std::string& format, const std::string& help);
/// Adds --rule, --preset and --non-finite.
void addQuantizeFlags(CLI::App& command, QuantizeFlags& flags);

/// The preset that the flags name, for `format`; null if they name none. Throws CommandError.
const numerics::Preset* presetOf(const QuantizeFlags& flags, const format::ScaledFormat& format);
/// The quantization options that the flags choose for a format. Throws CommandError.
numerics::QuantizeOptions quantizeOptions(const QuantizeFlags& flags,
                                          const format::ScaledFormat& format);
checkpoint::Json toJson(const QuantizeFlags& flags);

/// The scaled format named `name`, which `layout` must be able to write. Throws CommandError.
const format::ScaledFormat& formatNamed(const std::string& name, const checkpoint::Layout& layout);

} // namespace octavo::tools
