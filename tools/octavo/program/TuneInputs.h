// The inputs that `octavo tune` runs a program on.
#pragma once

#include "octavo/Execution/Value.h"
#include "octavo/Runtime/Argument.h"

#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

struct TuneInputFlags {
  std::vector<std::string> weights;
  std::vector<std::string> inputs;  ///< of every set: NAME=FILE.npy, FILE.npy, FILE.safetensors
  std::vector<std::string> folders; ///< of a set in each .safetensors file or folder of NAME.npy
  bool ignoresUnused = false;
};

struct InputSets {
  std::vector<std::string> names;
  /// Of each set one value for every argument. Weights are read once.
  std::vector<std::vector<execution::Value>> values;
};

/// Binds all of them; `function` is the function's name in messages. Throws CommandError: a folder
/// that has no set, or what is none; what runtime::bindArguments says of a set.
InputSets bindSets(std::span<const runtime::Argument> arguments, const TuneInputFlags& flags,
                   const std::string& function);

} // namespace octavo::tools
