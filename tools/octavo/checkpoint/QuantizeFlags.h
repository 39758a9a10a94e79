// How weights are quantized, where a subcommand does so: rule, preset, policy.
#pragma once

#include "tools/octavo/Commands.h"

#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Numerics/Preset.h"

#include <string>

namespace octavo::tools {

struct QuantizeFlags {
  std::string rule;
  std::string preset;
  std::string nonFinite;
};

/// --format; its help begins with `help` and lists all scaled formats.
CLI::Option* addFormatOption(CLI::App& command, std::string& format, const std::string& help);
/// --rule, --preset, --non-finite.
void addQuantizeFlags(CLI::App& command, QuantizeFlags& flags);

/// The preset that the flags name for a format; null if they name none. Throws CommandError.
const numerics::Preset* presetOf(const QuantizeFlags& flags, const format::ScaledFormat& format);
/// The options that the flags choose for a format. Throws CommandError.
numerics::QuantizeOptions quantizeOptions(const QuantizeFlags& flags,
                                          const format::ScaledFormat& format);
checkpoint::Json toJson(const QuantizeFlags& flags);

/// The scaled format of that name, which `layout` must be able to write. Throws CommandError.
const format::ScaledFormat& formatNamed(const std::string& name, const checkpoint::Layout& layout);

} // namespace octavo::tools
