// Linear algebra family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/LinearAlgebra.h"
#include "octavo/Dialect/StableHLO/Assembly.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/LinearAlgebra.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerLinearAlgebra() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/LinearAlgebra.cpp.inc"
      >();
}

using llvm::LogicalResult;
using mlir::RankedTensorType;

LogicalResult CholeskyOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                           Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType a = tensorType(adaptor.getA());
  if (a.getRank() < 2)
    return check.violated("C2", "a must have at least two axes; found ", a);
  const Extents extents = extentsOf(a);
  if (!extents.back().isCompatible(extents[extents.size() - 2]))
    return check.violated("C3", "the last two axes of a must have one extent; found ", a);
  types.push_back(a);
  return mlir::success();
}

LogicalResult TriangularSolveOp::inferReturnTypes(mlir::MLIRContext*, Location location,
                                                  Adaptor adaptor, Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType a = tensorType(adaptor.getA()), b = tensorType(adaptor.getB());
  const std::int64_t rank = a.getRank();
  if (!haveOneBaselineElement(a.getElementType(), b.getElementType()))
    return check.violated("C1", "a and b must have one element type; found ", a.getElementType(),
                          " and ", b.getElementType());
  if (rank < 2 || b.getRank() != rank)
    return check.violated("C2", "a and b must have one rank, 2 or more; found ", rank, " and ",
                          b.getRank());
  const Extents ours = extentsOf(a), theirs = extentsOf(b);
  for (std::int64_t axis = 0; axis < rank - 2; ++axis)
    if (!ours[axis].isCompatible(theirs[axis]))
      return check.violated("C3", "a and b must have one extent on batch axis ", axis, "; found ",
                            ours[axis].spell(), " and ", theirs[axis].spell());
  const Extent shared = theirs[adaptor.getLeftSide() ? rank - 2 : rank - 1];
  if (!ours[rank - 2].isCompatible(ours[rank - 1]) || !ours[rank - 1].isCompatible(shared))
    return check.violated("C3", "a must be square and have the extent of b on its ",
                          adaptor.getLeftSide() ? "second to last" : "last", " axis, ",
                          shared.spell(), "; found ", a);
  if (adaptor.getTransposeA() == Transpose::TRANSPOSE_INVALID)
    return check.violated("I6", "transpose_a must be NO_TRANSPOSE, TRANSPOSE or ADJOINT");
  types.push_back(b);
  return mlir::success();
}

} // namespace octavo::stablehlo
