// Extents that a program leaves open, made known by what it is given.
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

/// An extent that is the number of items.
inline constexpr std::int64_t kItems = -1;

/// Whether an argument of the function has an extent that is not known.
bool hasOpenExtents(mlir::func::FuncOp function);

/// That a program does not take arguments of such shapes together, and why.
class RefusedShapes : public llvm::ErrorInfo<RefusedShapes> {
public:
  static char ID; // NOLINT(readability-identifier-naming): of llvm::ErrorInfo

  explicit RefusedShapes(std::string why) : why(std::move(why)) {}
  void log(llvm::raw_ostream& out) const override { out << why; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

private:
  std::string why;
};

/// Takes the extents of the arguments from `shapes`, one an argument, and what follows from them
/// through the function. The error is RefusedShapes, with what RefineShapes says.
llvm::Error closeExtents(mlir::func::FuncOp function, const Shapes& shapes);
llvm::Error closeExtents(mlir::func::FuncOp function, std::span<const program::Value> values);

/// Whether an operation asserts something of a program's extents.
bool isAssertion(mlir::Operation* op);

struct ItemBounds {
  std::int64_t least = 0, most;
};
/// The numbers of items up to `most` for which all that the program asserts of its extents holds,
/// the arguments of the function having these shapes. The error is an assertion that is no bound.
llvm::Expected<ItemBounds> boundsOfItems(mlir::ModuleOp program, llvm::StringRef function,
                                         const Shapes& shapes, std::int64_t most);

/// Has the program assert nothing of its extents.
void dropAssertions(mlir::ModuleOp program);

/// The function alone with what it asserts of its extents, without results; the whole program where
/// assertions stand in other functions. Null where there are none.
mlir::OwningOpRef<mlir::ModuleOp> assertionsOf(mlir::ModuleOp program, llvm::StringRef function);

} // namespace octavo::session
