// The inputs on which `octavo tune` runs a program.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Value.h"

#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

/// The options of `octavo tune` for weights and inputs.
struct TuneInputFlags {
  std::vector<std::string> weights;
  std::vector<std::string> inputs; ///< of every set: NAME=FILE.npy, FILE.npy, FILE.safetensors
  std::vector<std::string> sets;   ///< in the form of inputSets; empty: one set, `inputs`
  bool ignoresUnused = false;
};

/// The bound values of all sets.
struct InputSets {
  std::vector<std::string> names; ///< all different
  /// For each set, one value for each argument. Weights are read once.
  std::vector<std::vector<program::Value>> values;
};

/// Reads and binds all sets. `function` is the function's name in messages. Throws CommandError
/// with the errors of inputSets or of session::bindArguments.
InputSets bindSets(std::span<const program::Argument> arguments, const TuneInputFlags& flags,
                   const std::string& function);

} // namespace octavo::tools
