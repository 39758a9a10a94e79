#include "octavo/Compiler/Plan/NeedlessMoves.h"

#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Compiler/Plan/IndexedSlices.h"
#include "octavo/Compiler/Plan/ScaledProducts.h"
#include "octavo/Dialect/Octavo/Octavo.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace octavo::compiler {

/// Whether each dot that reads a packed tensor gathers its parts.
static bool isTakenMoved(ir::PackOp pack) {
  const auto takesMoved = [&](mlir::Operation* dot) {
    const std::optional<ScaledProduct> product = scaledProduct(llvm::cast<ir::DotGeneralOp>(dot));
    return product->moved && product->leftParts != pack;
  };
  return isTakenInParts(pack) && llvm::all_of(pack->getUsers(), takesMoved);
}

bool NeedlessMoves::contains(mlir::Operation* op) {
  return (llvm::isa<ir::UnpackOp>(op) || selectsSlices(op)) && isMoved(op);
}

/// Whether every user of the result is a product that gathers it, or an operation that moves it on
/// to such products alone.
bool NeedlessMoves::isMoved(mlir::Operation* first) {
  const auto moves = [](mlir::Operation* op) { return isView(op) || selectsSlices(op); };
  llvm::SmallVector<mlir::Operation*> open = {first};
  while (!open.empty()) {
    mlir::Operation* const op = open.back();
    if (known.contains(op)) {
      open.pop_back();
      continue;
    }
    bool isMoved = true;
    const std::size_t before = open.size();
    for (mlir::Operation* user : op->getUsers()) {
      if (moves(user)) {
        const auto found = known.find(user);
        if (found == known.end())
          open.push_back(user);
        else
          isMoved &= found->second;
        continue;
      }
      auto pack = llvm::dyn_cast<ir::PackOp>(user);
      isMoved = isMoved && pack && isTakenMoved(pack);
      if (!isMoved)
        break;
    }
    if (!isMoved)
      open.truncate(before);
    if (open.size() == before) {
      known[op] = isMoved;
      open.pop_back();
    }
  }
  return known.lookup(first);
}

} // namespace octavo::compiler
