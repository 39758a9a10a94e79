// How chlo.broadcast_* brings two operands to one shape. Without broadcast_dimensions the axes are
// aligned at the last one, as in NumPy. With it, axis i of the operand of smaller rank (lhs if the
// ranks are equal) is axis broadcast_dimensions[i] of the other operand. Then axes of extent 1 are
// stretched, on either side.
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

/// The broadcast of two operands.
struct Broadcast {
  Axes lhsAxes, rhsAxes; ///< for each axis of the operand, the axis of the result
  Shape shape;           ///< of the result; ShapedType::kDynamic for an unknown extent
};

/// The broadcast of two shapes. Extents may be ShapedType::kDynamic. Fails if the shapes or
/// `dimensions` do not fit; the error says why.
llvm::Expected<Broadcast> broadcastOf(llvm::ArrayRef<std::int64_t> lhs,
                                      llvm::ArrayRef<std::int64_t> rhs,
                                      std::optional<llvm::ArrayRef<std::int64_t>> dimensions);

/// The shape to which NumPy broadcasts operands of these shapes. Fails if they do not fit.
llvm::Expected<Shape> broadcastShape(llvm::ArrayRef<llvm::ArrayRef<std::int64_t>> operands);

/// For each axis of an operand, the axis of the result if both are aligned at the last axis.
Axes alignedAxes(std::size_t rank, std::size_t resultRank);

/// The attribute broadcast_dimensions of `op`; nullopt if it has none.
std::optional<llvm::ArrayRef<std::int64_t>> broadcastDimensions(mlir::Operation* op);

/// Verifies that the result of `op` can have the shape `shape`.
llvm::LogicalResult verifyBroadcastResult(mlir::Operation* op, const Shape& shape);

/// Verifies the operands, broadcast_dimensions and result of a chlo.broadcast_* operation.
llvm::LogicalResult verifyBroadcast(mlir::Operation* op);

/// The trait of chlo.broadcast_*: verifies with verifyBroadcast.
template <typename Concrete>
class Broadcasts : public mlir::OpTrait::TraitBase<Concrete, Broadcasts> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) {
    auto concrete = llvm::cast<Concrete>(op);
    return verifyBroadcast(concrete);
  }
};

} // namespace octavo::chlo
