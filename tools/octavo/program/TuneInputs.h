// The inputs that `octavo tune` runs a program on.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Value.h"

#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

struct TuneInputFlags {
  std::vector<std::string> weights;
  std::vector<std::string> inputs; ///< of every set: NAME=FILE.npy, FILE.npy, FILE.safetensors
  std::vector<std::string> sets;   ///< as inputSets takes them; none: one set, of `inputs`
  bool ignoresUnused = false;
};

struct InputSets {
  std::vector<std::string> names; ///< no two alike
  /// Of each set one value for every argument. Weights are read once.
  std::vector<std::vector<program::Value>> values;
};

/// Binds all of them; `function` is the function's name in messages. Throws CommandError: what
/// inputSets and, of a set, session::bindArguments say.
InputSets bindSets(std::span<const program::Argument> arguments, const TuneInputFlags& flags,
                   const std::string& function);

} // namespace octavo::tools
