// The container that jax.export's serialize() writes: a portable artifact, and how it is called.
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

/// Everything that the container holds is kept as it was read, but for the artifact when it is
/// replaced: the trees and avals of arguments and results, shardings, platforms, effects, checks
/// that are off, the calling convention, which arguments the module takes, and the derivatives.
class JaxExport {
public:
  /// Whether the bytes are a container with an artifact in it. The containers have no magic number:
  /// their tables are checked as read does.
  static bool holds(llvm::StringRef bytes);
  /// Fails on bytes that are not a container, saying what was expected.
  static llvm::Expected<JaxExport> read(llvm::StringRef bytes);
  /// A container for a function of one platform, called with its arguments one by one. Fails on an
  /// argument or result that JAX has no array for.
  static llvm::Expected<JaxExport> of(llvm::StringRef name, mlir::FunctionType type);

  JaxExport(JaxExport&&) noexcept;
  JaxExport& operator=(JaxExport&&) noexcept;
  ~JaxExport();

  llvm::StringRef artifact() const;
  /// Puts another artifact, of the same arguments and results, in the place of the one that was
  /// read.
  void setArtifact(llvm::StringRef bytes);
  /// Leaves out the derivatives, which are those of the program that was read.
  void dropDerivatives();
  /// The platforms that the program was exported for, as JAX names them: an argument
  /// `_platform_index` is a place in this list.
  const std::vector<std::string>& platforms() const;
  /// The version of the convention by which main's arguments follow from the caller's.
  int callingConvention() const;
  std::string bytes() const;

private:
  explicit JaxExport(std::unique_ptr<jax::ExportedT> table);
  std::unique_ptr<jax::ExportedT> table;
};

} // namespace octavo::session
