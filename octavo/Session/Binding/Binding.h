// Binding: gives a program's arguments values from files of tensors, by name or by position.
#pragma once

#include "octavo/Program/Values/Argument.h"
#include "octavo/Program/Values/Executable.h"

#include "llvm/Support/Error.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::session {

using program::Value;

/// A file for one argument (.npy), or for the arguments whose names it contains (.safetensors).
struct InputFile {
  std::filesystem::path path;
  std::string argument = {}; ///< its name; empty: by position (.npy) or by names in the file
};

/// What to do with a tensor in a file that no argument uses.
enum class UnusedTensors : std::uint8_t {
  Refuse,
  Ignore,
};

/// When to read tensors of .safetensors files that need no conversion (elements of at least 8
/// bits).
enum class Reading : std::uint8_t {
  Now,
  Later, ///< values are unread; takeUnread reads them
};

/// How an error message tells the user to supply a value: a flag on the command line, an argument
/// in Python.
struct Options {
  std::string array = "--input NAME=FILE.npy"; ///< empty: not possible
  std::string ignoreUnused = "--ignore-unused";
};

/// The files from which arguments get values, and how to use them.
struct Sources {
  std::vector<std::filesystem::path> weights = {}; ///< .safetensors
  std::vector<InputFile> inputs = {};
  UnusedTensors unused = UnusedTensors::Refuse;
  Reading reading = Reading::Now;
  Options options = {};
};

/// Sources of .safetensors files only. Unused tensors are ignored if `ignoresUnused`, else refused.
Sources weightsOf(std::span<const std::string> files, bool ignoresUnused);

/// The names of tensors in .safetensors files. Other files are skipped: binding refuses them.
llvm::Expected<std::vector<std::string>> tensorNames(std::span<const std::string> files);

/// Returns a value for each argument, in order. A tensor is copied once, from the file to the value
/// or through quantization. Files are closed again, except those that are read later.
///
/// Named files are bound first. Files without a name then go, in order, to the remaining arguments
/// that have no value and are not parameters. `program` names the function in messages.
///
/// The error names file and argument:
/// - an argument without a value or a tensor without an argument, each with near names,
/// - two values for one argument,
/// - a wrong shape or element type,
/// - NaN or Inf that the quantization refuses, or
/// - a fault of the file.
llvm::Expected<std::vector<Value>> bindArguments(std::span<const program::Argument> arguments,
                                                 const Sources& sources,
                                                 const std::string& program);

/// The same for the arguments that the weights' files name. Other arguments get the value that the
/// program gives them, or nullopt.
llvm::Expected<std::vector<std::optional<Value>>>
bindNamed(std::span<const program::Argument> arguments, const Sources& sources,
          const std::string& program);

/// Reads unread values. An executable that takes an argument unread reads it from the file, into
/// packed weights, say; other values become tensors. The values are those of one process. The error
/// names the file.
llvm::Error takeUnread(const program::Executable& executable, std::span<Value> values);

/// The values, with unread ones read. The error names the file.
llvm::Expected<std::vector<Value>> readUnread(std::span<const Value> values);

} // namespace octavo::session
