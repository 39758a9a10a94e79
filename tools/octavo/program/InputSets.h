// Sets of inputs, each the arguments of one run.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Session/Binding/Binding.h"

#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

struct InputSet {
  std::string label; ///< as it was given, or its path: for messages
  std::string name;  ///< that of its only file or of its folder, without suffix; else empty
  std::vector<session::InputFile> files;
};

/// FILE, or NAME=FILE for the argument of that name. A file whose own name has a '=' is given as
/// ./FILE=... only with its argument's name.
session::InputFile inputFile(const std::string& given);

/// What --inputs says:
/// - a file, or NAME=FILE, several of them with commas between: one set;
/// - a folder with a .npy file named for an argument (NAME.npy): one set, of its files;
/// - any other folder: each .safetensors or .npy file and each folder in it is a set, in natural
///   order.
/// Throws CommandError for what is none of these.
std::vector<InputSet> inputSets(const std::vector<std::string>& given,
                                std::span<const program::Argument> arguments);

} // namespace octavo::tools
