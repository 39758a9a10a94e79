// How the operands of chlo.broadcast_* come to one shape: without broadcast_dimensions as NumPy's,
// aligned at the last axis; with it, axis i of the operand of smaller rank (lhs, if both have one)
// is axis broadcast_dimensions[i] of the other. Then axes of extent 1 are stretched, on either
// side.
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace octavo::chlo {

using Axes = std::vector<std::int64_t>;
using Shape = std::vector<std::int64_t>;

struct Broadcast {
  Axes lhsAxes, rhsAxes; ///< the axis of the result that each axis of an operand is
  Shape shape;           ///< of the result; ShapedType::kDynamic where it is not known
};

/// Extents may be ShapedType::kDynamic. The error says what does not fit.
llvm::Expected<Broadcast> broadcastOf(llvm::ArrayRef<std::int64_t> lhs,
                                      llvm::ArrayRef<std::int64_t> rhs,
                                      std::optional<llvm::ArrayRef<std::int64_t>> dimensions);

/// The shape to which NumPy broadcasts operands of these shapes.
llvm::Expected<Shape> broadcastShape(llvm::ArrayRef<llvm::ArrayRef<std::int64_t>> operands);

/// The axis of the result that each axis of an operand is where both end with the same one.
Axes alignedAxes(std::size_t rank, std::size_t resultRank);

/// The attribute broadcast_dimensions of an operation; nothing where it has none.
std::optional<llvm::ArrayRef<std::int64_t>> broadcastDimensions(mlir::Operation* op);

/// Holds the shape of the result of `op` against `shape`.
llvm::LogicalResult verifyBroadcastResult(mlir::Operation* op, const Shape& shape);

llvm::LogicalResult verifyBroadcast(mlir::Operation* op);

template <typename Concrete>
class Broadcasts : public mlir::OpTrait::TraitBase<Concrete, Broadcasts> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) {
    auto concrete = llvm::cast<Concrete>(op);
    return verifyBroadcast(concrete);
  }
};

} // namespace octavo::chlo
