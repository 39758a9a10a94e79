// The container that jax.export's serialize() writes: a portable artifact and its calling
// convention.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace octavo::session {

namespace jax {
struct ExportedT;
}

/// A container. All it holds is preserved when it is written again, except what the functions below
/// replace: trees and avals of arguments and results, shardings, platforms, effects, disabled
/// checks, the calling convention, the arguments that the module keeps, and derivatives.
class JaxExport {
public:
  /// Whether the bytes are a container with an artifact. Containers have no magic number, so all
  /// tables are verified, as `read` does.
  static bool holds(llvm::StringRef bytes);
  /// Reads a container. The error says what was expected.
  static llvm::Expected<JaxExport> read(llvm::StringRef bytes);
  /// Makes a container for a function of one platform whose arguments are passed one by one. Fails
  /// if JAX has no array type for an argument or result.
  static llvm::Expected<JaxExport> of(llvm::StringRef name, mlir::FunctionType type);

  JaxExport(JaxExport&&) noexcept;
  JaxExport& operator=(JaxExport&&) noexcept;
  ~JaxExport();

  /// The portable artifact.
  llvm::StringRef artifact() const;
  /// Replaces the artifact. The new one must have the same arguments and results.
  void setArtifact(llvm::StringRef bytes);
  /// Removes the derivatives, which belong to the program that was read.
  void dropDerivatives();
  /// The platforms that the program was exported for, by JAX's names. An argument `_platform_index`
  /// is an index into this list.
  const std::vector<std::string>& platforms() const;
  /// The version of the convention that maps a caller's arguments to those of main.
  int callingConvention() const;
  /// The container, serialized.
  std::string bytes() const;

private:
  explicit JaxExport(std::unique_ptr<jax::ExportedT> table);
  std::unique_ptr<jax::ExportedT> table;
};

} // namespace octavo::session
