// Complex family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Complex.h"
#include "octavo/Dialect/StableHLO/Assembly.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Complex.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerComplex() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Complex.cpp.inc"
      >();
}

using llvm::LogicalResult;
using mlir::RankedTensorType;

LogicalResult ComplexOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                          Types& types) {
  const RankedTensorType lhs = tensorType(adaptor.getLhs());
  const RankedTensorType rhs = tensorType(adaptor.getRhs());
  if (!isCompatible(lhs, rhs))
    return violates<ComplexOp>(location, "C1", "operands must have one type; found ", lhs, " and ",
                               rhs);
  types.push_back(withElement(llvm::cast<RankedTensorType>(mostSpecific(lhs, rhs)),
                              mlir::ComplexType::get(lhs.getElementType())));
  return mlir::success();
}

namespace {

/// Infers the type of the real or imaginary parts.
void inferPart(mlir::Value operand, Types& types) {
  const RankedTensorType type = tensorType(operand);
  const auto complex = llvm::dyn_cast<mlir::ComplexType>(type.getElementType());
  types.push_back(complex ? withElement(type, complex.getElementType()) : type);
}

} // namespace

LogicalResult ImagOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor,
                                       Types& types) {
  inferPart(adaptor.getOperand(), types);
  return mlir::success();
}

LogicalResult RealOp::inferReturnTypes(mlir::MLIRContext*, Location, Adaptor adaptor,
                                       Types& types) {
  inferPart(adaptor.getOperand(), types);
  return mlir::success();
}

namespace {

/// The length of a real transform's result: the other numbers follow by symmetry.
std::int64_t halfOf(std::int64_t length) { return length == 0 ? 0 : length / 2 + 1; }

} // namespace

LogicalResult FftOp::inferReturnTypes(mlir::MLIRContext*, Location location, Adaptor adaptor,
                                      Types& types) {
  const Checker check(location, getOperationName());
  const RankedTensorType operand = tensorType(adaptor.getOperand());
  const llvm::ArrayRef<std::int64_t> lengths = adaptor.getFftLength();
  const FftType kind = adaptor.getFftType();
  const auto count = static_cast<std::int64_t>(lengths.size());
  if (count < 1 || count > 3)
    return check.violated("C3", "fft_length must have one to three entries; found ",
                          spell(lengths));
  if (count > operand.getRank())
    return check.violated("C1", "fft_length must have no more entries than the operand has axes, ",
                          operand.getRank(), "; found ", spell(lengths));
  mlir::Type element = operand.getElementType();
  const auto complex = llvm::dyn_cast<mlir::ComplexType>(element);
  const bool isForwardReal = kind == FftType::RFFT, isInverseReal = kind == FftType::IRFFT;
  if (isForwardReal ? !(element.isF32() || element.isF64()) : !complex)
    return check.violated("C2", "the operand of ", stringifyFftType(kind), " must have ",
                          isForwardReal ? "f32 or f64" : "complex", " elements; found ", element);
  if (isForwardReal)
    element = mlir::ComplexType::get(element);
  else if (isInverseReal)
    element = complex.getElementType();
  Extents shape = extentsOf(operand);
  for (std::int64_t i = 0; i < count; ++i) {
    Extent& extent = shape[operand.getRank() - count + i];
    const bool isLast = i == count - 1;
    const Extent expected =
        Extent::known(isInverseReal && isLast ? halfOf(lengths[i]) : lengths[i]);
    if (lengths[i] < 0 || !extent.isCompatible(expected))
      return check.violated(isInverseReal && isLast ? "C5" : "C4", "axis ",
                            operand.getRank() - count + i, " of the operand must have the extent ",
                            expected.spell(), " for fft_length ", spell(lengths), "; found ",
                            extent.spell());
    if (isLast && (isForwardReal || isInverseReal))
      extent = Extent::known(isForwardReal ? halfOf(lengths[i]) : lengths[i]);
  }
  types.push_back(tensorOf(shape, element));
  return mlir::success();
}

} // namespace octavo::stablehlo
