// Files and folders that users give as programs though they are something else: models of other
// formats, weights, checkpoints.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <filesystem>
#include <optional>
#include <string>

namespace octavo::session {

/// What bytes are that are no program, and how the program is had instead: "is an ONNX model, ...;
/// ...". Told by their contents; `name` decides only between kinds of PyTorch's archives. nullopt:
/// nothing that is known here.
std::optional<std::string> foreignProgram(llvm::StringRef bytes, llvm::StringRef name);

/// The same of a folder: a checkpoint, TensorFlow's SavedModel, a compiled program where one is not
/// taken.
std::optional<std::string> foreignFolder(const std::filesystem::path& folder);

} // namespace octavo::session
