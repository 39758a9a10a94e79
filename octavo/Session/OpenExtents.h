// Replaces a program's open extents by those of its arguments.
#pragma once

#include "octavo/Program/Values/Value.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace octavo::session {

using Shapes = std::vector<std::vector<std::int64_t>>;

/// Marks an extent that is the batch size.
inline constexpr std::int64_t kItems = -1;

/// Whether an argument of the function has an open extent.
bool hasOpenExtents(mlir::func::FuncOp function);

/// The error if a program does not accept arguments of these shapes together, with the reason.
class RefusedShapes : public llvm::ErrorInfo<RefusedShapes> {
public:
  static char ID; // NOLINT(readability-identifier-naming): of llvm::ErrorInfo

  explicit RefusedShapes(std::string why) : why(std::move(why)) {}
  void log(llvm::raw_ostream& out) const override { out << why; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string why;
};

/// Sets the arguments' extents from `shapes`, one per argument, and propagates them through the
/// function. Fails with RefusedShapes and the diagnostics of RefineShapes.
llvm::Error closeExtents(mlir::func::FuncOp function, const Shapes& shapes);
llvm::Error closeExtents(mlir::func::FuncOp function, std::span<const program::Value> values);

/// Whether the operation is an assertion on the program's extents.
bool isAssertion(mlir::Operation* op);

/// Bounds of the batch size, both included.
struct ItemBounds {
  std::int64_t least = 0, most;
};
/// The batch sizes up to `most` that meet all assertions of the program, if the function's
/// arguments have these shapes (kItems marks the batch size). Fails if an assertion is not a bound
/// on the batch size.
llvm::Expected<ItemBounds> boundsOfItems(mlir::ModuleOp program, llvm::StringRef function,
                                         const Shapes& shapes, std::int64_t most);

/// Removes all assertions on extents.
void dropAssertions(mlir::ModuleOp program);

/// A copy of the program that contains the function's assertions only, without results. A copy of
/// the whole program if other functions have assertions; null if there are none.
mlir::OwningOpRef<mlir::ModuleOp> assertionsOf(mlir::ModuleOp program, llvm::StringRef function);

} // namespace octavo::session
