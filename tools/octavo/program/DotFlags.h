// The options that say which dots become narrow and how: those of `octavo quantize` and of
// `octavo run --quantize`.
#pragma once

#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace octavo::tools {

struct DotFlags {
  std::string format; ///< empty: recipe, or nothing becomes narrow
  std::string recipe; ///< a name or a path
  std::string activations;
  std::string rule;
  std::string nonFinite;
  std::string preset;
  std::string calibration; ///< a path
  std::string range;
  std::string match;
  std::string exclude;
  std::string parameters;
  std::int64_t minSize = 0;
  bool takesActivationPairs = false;
};

/// Adds the options to a subcommand. The one for the format of the weights is the caller's,
/// `format`, to which --recipe is the alternative.
void addDotFlags(CLI::App& command, DotFlags& flags, CLI::Option* format);

/// Those of them that say which dots, whatever becomes of them.
void addWhichDotsFlags(CLI::App& command, DotFlags& flags);

/// What the options say. Throws CommandError, with the names that there are, for one that is none,
/// and for a recipe that cannot be read.
transforms::DotOptions dotOptions(const DotFlags& flags);

/// The calibration of that file. Throws CommandError.
std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& path);

} // namespace octavo::tools
