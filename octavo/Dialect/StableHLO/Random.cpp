// Random family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Dialect/StableHLO/Assembly.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Random.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerRandom() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Random.cpp.inc"
      >();
}

using llvm::LogicalResult;
using mlir::RankedTensorType;

void RngBitGeneratorOp::getAsmResultNames(mlir::OpAsmSetValueNameFn setName) {
  setName(getOutputState(), "output_state");
  setName(getOutput(), "output");
}

LogicalResult RngBitGeneratorOp::verify() {
  const Checker check(*this);
  const RankedTensorType state = getInitialState().getType(), next = getOutputState().getType();
  if (!isCompatible(state, next))
    return check.violated("C1", "the states must have one type; found ", state, " and ", next);
  if (state.getRank() != 1 || !state.getElementType().isUnsignedInteger(64))
    return check.violated("I1", "the state must be a list of ui64; found ", state);
  const Extent words = extentsOf(state).front();
  const bool isTwo = words.isCompatible(Extent::known(2));
  const bool isThree = words.isCompatible(Extent::known(3));
  const RngAlgorithm algorithm = getRngAlgorithm();
  if ((algorithm == RngAlgorithm::THREE_FRY && !isTwo) ||
      (algorithm == RngAlgorithm::PHILOX && !isTwo && !isThree))
    return check.violated("C2", "the state of ", stringifyRngAlgorithm(algorithm), " must have ",
                          algorithm == RngAlgorithm::THREE_FRY ? "2" : "2 or 3", " numbers; found ",
                          state);
  return mlir::success();
}

LogicalResult RngOp::verify() {
  const Checker check(*this);
  const RankedTensorType a = getA().getType(), b = getB().getType(), result = getType();
  if (a.getRank() != 0 || b.getRank() != 0)
    return check.violated("I1", "a and b must be scalars; found ", a, " and ", b);
  if (a != b || a.getElementType() != result.getElementType())
    return check.violated("C1", "a, b and result must have one element type; found ",
                          a.getElementType(), ", ", b.getElementType(), " and ",
                          result.getElementType());
  if (getRngDistribution() == RngDistribution::NORMAL && !isFloat(a.getElementType()))
    return check.violated("C2", "NORMAL is a distribution of floats; found ", a.getElementType());
  if (getShape().getType().getDimSize(0) != result.getRank())
    return check.violated("C3", "shape must have one number for each of the result's ",
                          result.getRank(), " axes; found ", getShape().getType());
  return mlir::success();
}

} // namespace octavo::stablehlo
