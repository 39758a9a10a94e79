// Binding: files of tensors meet the arguments of a program, by name or by position.
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

/// A file given for one argument (.npy), or for those that it names (.safetensors).
struct InputFile {
  std::filesystem::path path;
  std::string argument = {}; ///< its name; empty: by position (.npy) or by the names in the file
};

/// What a tensor in a file that no argument asks for is.
enum class UnusedTensors : std::uint8_t {
  Refuse,
  Ignore,
};

/// When tensors of .safetensors files are read that need no more than that: those of 8 bits and
/// more.
enum class Reading : std::uint8_t {
  Now,
  Later, ///< their values are unread; takeUnread has them read
};

/// How whoever reads a message gives what it asks for.
struct Options {
  std::string array = "--input NAME=FILE.npy"; ///< empty: not at all
  std::string ignoreUnused = "--ignore-unused";
};

struct Sources {
  std::vector<std::filesystem::path> weights = {}; ///< .safetensors
  std::vector<InputFile> inputs = {};
  UnusedTensors unused = UnusedTensors::Refuse;
  Reading reading = Reading::Now;
  Options options = {};
};

/// Tensors of .safetensors files alone, those that no argument asks for ignored or refused.
Sources weightsOf(std::span<const std::string> files, bool ignoresUnused);

/// The names of the tensors of .safetensors files. Files of other names are left out: what binds
/// them refuses them.
llvm::Expected<std::vector<std::string>> tensorNames(std::span<const std::string> files);

/// Values for every argument, in their order. A file's tensors are copied once, straight to the
/// value or through quantization; the files are closed again, but those that are read later.
///
/// First everything with a name is bound, then the files without one, in their order, to the
/// arguments that are left, have no value otherwise and are not parameters. The error names the
/// file and the argument: an argument without a value, a tensor without an argument (each with the
/// names near it), two values for one argument, a wrong shape or element type, NaN or Inf where the
/// quantization refuses them, or what is wrong with a file. `program` stands for the function in
/// messages.
llvm::Expected<std::vector<Value>> bindArguments(std::span<const program::Argument> arguments,
                                                 const Sources& sources,
                                                 const std::string& program);

/// The same for the arguments that the files of weights name; nothing for the others.
llvm::Expected<std::vector<std::optional<Value>>>
bindNamed(std::span<const program::Argument> arguments, const Sources& sources,
          const std::string& program);

/// Reads the arguments that are not read yet: what the executable makes of them where it takes them
/// so, such as packed weights, straight from the file; else the tensors. The values are one
/// process's. The error names the file.
llvm::Error takeUnread(const program::Executable& executable, std::span<Value> values);

/// The values with those read that are not. The error names the file.
llvm::Expected<std::vector<Value>> readUnread(std::span<const Value> values);

} // namespace octavo::session
