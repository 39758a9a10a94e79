// The options that choose which dots are quantized and how, for `octavo quantize` and `octavo run
// --quantize`.
#pragma once

#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace octavo::tools {

/// The values of the options. Empty text means that the option is not given.
struct DotFlags {
  std::string format; ///< of the weights; empty: by the recipe, or nothing is quantized
  std::string recipe; ///< name or path
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

/// Adds the options to a subcommand. The caller adds `format`, the option for the format of the
/// weights, to which --recipe is the alternative.
void addDotFlags(CLI::App& command, DotFlags& flags, CLI::Option* format);

/// Adds only the options that select dots.
void addWhichDotsFlags(CLI::App& command, DotFlags& flags);

/// The options as DotOptions. Throws CommandError if a name is unknown (with the valid names), or
/// if a recipe cannot be read.
transforms::DotOptions dotOptions(const DotFlags& flags);

/// Reads a calibration file. Throws CommandError.
std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& path);

} // namespace octavo::tools
