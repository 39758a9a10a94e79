// Recognizes files and folders that are not programs for octavo: models of other formats, weights,
// checkpoints.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <filesystem>
#include <optional>
#include <string>

namespace octavo::session {

/// What the bytes are, and how to get a program from it: "is an ONNX model, ...; ...". Recognized
/// by content; `name` only distinguishes PyTorch's kinds of archives. nullopt if unknown.
std::optional<std::string> foreignProgram(llvm::StringRef bytes, llvm::StringRef name);

/// The same for a folder: a checkpoint, a TensorFlow SavedModel, or a compiled program where none
/// is accepted.
std::optional<std::string> foreignFolder(const std::filesystem::path& folder);

} // namespace octavo::session
