#include "octavo/Conversion/Kernels/Members.h"

#include "octavo/Conversion/Kernels/Arithmetic.h"
#include "octavo/Conversion/Kernels/Kernel.h"
#include "octavo/Conversion/Kernels/Views.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace octavo::conversion {

namespace {

bool isCompiledTensor(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isCompiled(tensor.getElementType());
}

bool hasCompiledTypes(mlir::Operation* op) {
  return llvm::all_of(op->getOperandTypes(), isCompiledTensor) &&
         llvm::all_of(op->getResultTypes(), isCompiledTensor);
}

/// A text and the kind of a value's elements.
std::string onElements(std::string text, mlir::Value value) {
  llvm::raw_string_ostream out(text);
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  if (!tensor)
    out << "values of type " << value.getType();
  else if (!tensor.hasStaticShape())
    out << "tensors of unknown extents";
  else
    out << "elements of type " << tensor.getElementType();
  return text;
}

/// What kernels do not work on among the operands and results of an operation.
std::string wrongType(mlir::Operation* op) {
  llvm::SmallVector<mlir::Value> values(op->getOperands());
  values.append(op->result_begin(), op->result_end());
  for (mlir::Value value : values)
    if (!isCompiledTensor(value.getType()))
      return onElements("kernels do not work on ", value);
  return "";
}

/// The body's operation where it is one, of both arguments, that accumulates in a wider type.
mlir::Operation* singleOperation(stablehlo::ReduceOp op) {
  mlir::Block& body = op.getBody().front();
  if (op.getInputs().size() != 1 || body.getOperations().size() != 2)
    return nullptr;
  mlir::Operation& only = body.front();
  if (!llvm::isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp,
                 stablehlo::AndOp, stablehlo::OrOp>(only) ||
      body.getTerminator()->getOperand(0) != only.getResult(0))
    return nullptr;
  const mlir::Value x = only.getOperand(0), y = only.getOperand(1);
  const mlir::Value a = body.getArgument(0), c = body.getArgument(1);
  return (x == a && y == c) || (x == c && y == a) ? &only : nullptr;
}

} // namespace

std::optional<llvm::APInt> splatBits(mlir::Value constant) {
  mlir::DenseElementsAttr value;
  if (!mlir::matchPattern(constant, mlir::m_Constant(&value)) || !value.isSplat())
    return std::nullopt;
  if (mlir::isa<mlir::FloatType>(value.getElementType()))
    return value.getSplatValue<llvm::APFloat>().bitcastToAPInt();
  return value.getSplatValue<llvm::APInt>();
}

bool isInlined(mlir::Operation* op) {
  if (op == nullptr || op->getNumResults() != 1 || !hasCompiledTypes(op))
    return false;
  return isView(op) || llvm::isa<stablehlo::IotaOp>(op) || splatBits(op->getResult(0));
}

std::string whyNoCode(mlir::Operation* op) {
  if (isCompiledElementwise(op))
    return "";
  auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op);
  const bool hasCode =
      reduce || isElementwise(op) || isView(op) ||
      llvm::isa<stablehlo::ConcatenateOp, stablehlo::PadOp, stablehlo::DynamicSliceOp,
                stablehlo::GatherOp, stablehlo::IotaOp>(op);
  if (!hasCode)
    return "kernels have no code for it";
  if (!hasCompiledTypes(op))
    return wrongType(op);
  if (reduce)
    return Combination::whyNotCompiled(reduce);
  return isElementwise(op) ? onElements("kernels have no code for it on ", op->getOperand(0)) : "";
}

bool isKernelMember(mlir::Operation* op) { return !isInlined(op) && whyNoCode(op).empty(); }

bool reducesRows(mlir::Operation* op) {
  auto reduce = mlir::dyn_cast<stablehlo::ReduceOp>(op);
  if (!reduce || reduce.getInputs().size() != 1)
    return false;
  const llvm::ArrayRef<std::int64_t> shape = shapeOf(reduce.getInputs()[0]);
  bool isPastReduced = false;
  std::int64_t reduced = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const bool isReduced =
        llvm::is_contained(reduce.getDimensions(), static_cast<std::int64_t>(axis));
    if (shape[axis] == 1)
      continue;
    if (isPastReduced && !isReduced)
      return false;
    isPastReduced |= isReduced;
    if (isReduced)
      reduced *= shape[axis];
  }
  return reduced > 1 && sizeOf(reduce.getInputs()[0]) > 0;
}

std::string Combination::whyNotCompiled(stablehlo::ReduceOp op) {
  mlir::Block& body = op.getBody().front();
  const auto isOutside = [&](mlir::Value value) { return value.getParentBlock() != &body; };
  for (mlir::Operation& inner : body) {
    if (llvm::any_of(inner.getOperands(), isOutside))
      return "its body uses values from around it";
    if (&inner != body.getTerminator() && !isCompiledElementwise(&inner) &&
        !splatBits(inner.getNumResults() == 1 ? inner.getResult(0) : mlir::Value()))
      return "kernels have no code for '" + inner.getName().getStringRef().str() + "' in its body";
  }
  return "";
}

Combination::Combination(stablehlo::ReduceOp op) : op(op), single(singleOperation(op)) {
  for (std::size_t i = 0; i < op.getInputs().size(); ++i) {
    const mlir::Type body = elementOf(op.getBody().front().getArgument(static_cast<unsigned>(i)));
    const bool isNarrow = body.isF16() || body.isBF16();
    accumulators.push_back(single != nullptr && isNarrow
                               ? mlir::Type(mlir::Float32Type::get(body.getContext()))
                               : body);
    if (single != nullptr && body.isF32() && elementOf(op.getInputs()[i]).isF64())
      accumulators.back() = mlir::Float64Type::get(body.getContext());
  }
}

llvm::Value* Combination::enter(Scalars& scalars, std::size_t i, mlir::Type from,
                                llvm::Value* value) const {
  return scalars.convert(from, accumulators[i], value);
}

llvm::Value* Combination::leave(Scalars& scalars, std::size_t i, llvm::Value* sum) const {
  return scalars.convert(accumulators[i], elementOf(op.getResult(static_cast<unsigned>(i))), sum);
}

llvm::SmallVector<llvm::Value*> Combination::combine(Scalars& scalars,
                                                     llvm::ArrayRef<llvm::Value*> sums,
                                                     llvm::ArrayRef<llvm::Value*> elements) const {
  llvm::IRBuilder<>& b = scalars.b;
  if (single != nullptr && mlir::isa<mlir::FloatType>(accumulators[0])) {
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b);
    llvm::FastMathFlags flags;
    flags.setAllowReassoc();
    if (llvm::isa<stablehlo::AddOp, stablehlo::MulOp>(single)) {
      b.setFastMathFlags(flags);
      return {llvm::isa<stablehlo::AddOp>(single) ? b.CreateFAdd(sums[0], elements[0])
                                                  : b.CreateFMul(sums[0], elements[0])};
    }
    const auto extremum =
        llvm::isa<stablehlo::MaxOp>(single) ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum;
    return {b.CreateBinaryIntrinsic(extremum, sums[0], elements[0])};
  }
  mlir::Block& body = op.getBody().front();
  llvm::DenseMap<mlir::Value, llvm::Value*> values;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    values[body.getArgument(static_cast<unsigned>(i))] = sums[i];
    values[body.getArgument(static_cast<unsigned>(sums.size() + i))] = elements[i];
  }
  for (mlir::Operation& inner : body.without_terminator()) {
    if (const auto bits = splatBits(inner.getResult(0))) {
      values[inner.getResult(0)] = scalars.constant(elementOf(inner.getResult(0)), *bits);
      continue;
    }
    llvm::SmallVector<llvm::Value*> operands;
    for (mlir::Value operand : inner.getOperands())
      operands.push_back(values.lookup(operand));
    values[inner.getResult(0)] = emitElementwise(scalars, &inner, operands);
  }
  llvm::SmallVector<llvm::Value*> results;
  for (mlir::Value result : body.getTerminator()->getOperands())
    results.push_back(values.lookup(result));
  return results;
}

} // namespace octavo::conversion
