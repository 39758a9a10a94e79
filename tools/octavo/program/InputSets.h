// Sets of inputs. Each set has the arguments of one run.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Session/Binding/Binding.h"

#include <span>
#include <string>
#include <vector>

namespace octavo::tools {

/// The files of one set.
struct InputSet {
  std::string label; ///< the text given on the command line, or the path; for messages
  std::string name;  ///< name of its only file or its folder, without suffix; else empty
  std::vector<session::InputFile> files;
};

/// Parses FILE, or NAME=FILE for the argument NAME. For a file with '=' in its name, the argument's
/// name is required: NAME=FILE.
session::InputFile inputFile(const std::string& given);

/// The sets that --inputs names. Each value is one of:
/// - a file, or NAME=FILE, several of them separated by commas: one set;
/// - a folder with a .npy file named for an argument (NAME.npy): one set, its files;
/// - any other folder: each .safetensors or .npy file and each folder in it is a set, in natural
///   order.
/// Throws CommandError for anything else.
std::vector<InputSet> inputSets(const std::vector<std::string>& given,
                                std::span<const program::Argument> arguments);

} // namespace octavo::tools
