#include "octavo/Compiler/Kernels/Members.h"

#include "octavo/Compiler/Kernels/Arithmetic.h"
#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Compiler/Kernels/Running.h"
#include "octavo/Compiler/Kernels/Sums.h"
#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Dialect/BatchExtent.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

namespace octavo::compiler {

namespace {

bool isCompiledTensor(mlir::Type type) {
  auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && isCompiled(tensor.getElementType());
}

bool hasCompiledTypes(mlir::Operation* op) {
  return llvm::all_of(op->getOperandTypes(), isCompiledTensor) &&
         llvm::all_of(op->getResultTypes(), isCompiledTensor);
}

/// `text`, followed by the element type of a value.
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

/// Which operand or result of an operation has a type that kernels do not handle.
std::string wrongType(mlir::Operation* op) {
  llvm::SmallVector<mlir::Value> values(op->getOperands());
  values.append(op->result_begin(), op->result_end());
  for (mlir::Value value : values)
    if (!isCompiledTensor(value.getType()))
      return onElements("kernels do not work on ", value);
  return "";
}

} // namespace

mlir::Operation* singleOperation(mlir::Region& body) {
  mlir::Block& block = body.front();
  if (block.getNumArguments() != 2 || block.getOperations().size() != 2)
    return nullptr;
  mlir::Operation& only = block.front();
  if (!llvm::isa<stablehlo::AddOp, stablehlo::MulOp, stablehlo::MaxOp, stablehlo::MinOp,
                 stablehlo::AndOp, stablehlo::OrOp>(only) ||
      block.getTerminator()->getOperand(0) != only.getResult(0))
    return nullptr;
  const mlir::Value x = only.getOperand(0), y = only.getOperand(1);
  const mlir::Value a = block.getArgument(0), c = block.getArgument(1);
  return (x == a && y == c) || (x == c && y == a) ? &only : nullptr;
}

std::optional<llvm::APInt> splatBits(mlir::Value constant) {
  mlir::DenseElementsAttr value;
  if (!mlir::matchPattern(constant, mlir::m_Constant(&value)) || !value.isSplat())
    return std::nullopt;
  if (mlir::isa<mlir::ComplexType>(value.getElementType()))
    return std::nullopt;
  if (mlir::isa<mlir::FloatType>(value.getElementType()))
    return value.getSplatValue<llvm::APFloat>().bitcastToAPInt();
  return value.getSplatValue<llvm::APInt>();
}

bool isInlined(mlir::Operation* op) {
  if (op == nullptr || op->getNumResults() != 1 || !hasCompiledTypes(op))
    return false;
  return isView(op) || llvm::isa<stablehlo::IotaOp>(op) || splatBits(op->getResult(0)) ||
         (isItemNumber(op) && splatBits(op->getOperand(0)));
}

std::string whyNoCode(mlir::Operation* op) {
  if (isCompiledElementwise(op))
    return "";
  const bool hasCode =
      isElementwise(op) || isView(op) ||
      llvm::isa<stablehlo::ReduceOp, stablehlo::ConcatenateOp, stablehlo::PadOp,
                stablehlo::DynamicSliceOp, stablehlo::GatherOp, stablehlo::IotaOp,
                stablehlo::ReduceWindowOp, stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(op);
  if (!hasCode)
    return "kernels have no code for it";
  if (!hasCompiledTypes(op))
    return wrongType(op);
  return llvm::TypeSwitch<mlir::Operation*, std::string>(op)
      .Case([](stablehlo::ReduceOp reduce) { return whyNoBody(reduce.getBody()); })
      .Case<stablehlo::ReduceWindowOp, stablehlo::ConvolutionOp, stablehlo::DotGeneralOp>(
          [](auto sum) { return whyNoSum(sum); })
      .Default([&](mlir::Operation*) {
        return isElementwise(op) ? onElements("kernels have no code for it on ", op->getOperand(0))
                                 : "";
      });
}

bool isKernelMember(mlir::Operation* op) {
  const auto window = llvm::dyn_cast<stablehlo::ReduceWindowOp>(op);
  return !isInlined(op) && whyNoCode(op).empty() && !(window && runningOf(window));
}

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

llvm::SetVector<mlir::Value> scalarsAround(mlir::Region& body) {
  llvm::SetVector<mlir::Value> around;
  mlir::getUsedValuesDefinedAbove(body, around);
  around.remove_if([](mlir::Value value) {
    return splatBits(value) || !isCompiledTensor(value.getType()) || !shapeOf(value).empty();
  });
  return around;
}

std::string whyNoBody(mlir::Region& body, const llvm::SetVector<mlir::Value>& around) {
  mlir::Block& block = body.front();
  const auto isOutside = [&](mlir::Value value) {
    return value.getParentBlock() != &block && !splatBits(value) && !around.contains(value);
  };
  for (mlir::Operation& inner : block) {
    if (llvm::any_of(inner.getOperands(), isOutside))
      return "its body uses values from around it";
    if (&inner != block.getTerminator() && !isCompiledElementwise(&inner) &&
        !splatBits(inner.getNumResults() == 1 ? inner.getResult(0) : mlir::Value()))
      return "kernels have no code for '" + inner.getName().getStringRef().str() + "' in its body";
  }
  return "";
}

llvm::SmallVector<llvm::Value*> emitBody(Scalars& scalars, mlir::Region& body,
                                         llvm::ArrayRef<llvm::Value*> arguments,
                                         const BodyValues& around) {
  mlir::Block& block = body.front();
  BodyValues values = around;
  for (const auto& [argument, value] : llvm::zip(block.getArguments(), arguments))
    values[argument] = value;
  const auto valueOf = [&](mlir::Value value) {
    const auto found = values.find(value);
    return found != values.end() ? found->second
                                 : scalars.constant(elementOf(value), *splatBits(value));
  };
  for (mlir::Operation& inner : block.without_terminator()) {
    if (splatBits(inner.getResult(0)))
      continue;
    llvm::SmallVector<llvm::Value*> operands;
    for (mlir::Value operand : inner.getOperands())
      operands.push_back(valueOf(operand));
    values[inner.getResult(0)] = emitElementwise(scalars, &inner, operands);
  }
  llvm::SmallVector<llvm::Value*> results;
  for (mlir::Value result : block.getTerminator()->getOperands())
    results.push_back(valueOf(result));
  return results;
}

Combination::Combination(mlir::Region& body, mlir::TypeRange inputs, mlir::TypeRange resultTypes,
                         bool isAsWritten)
    : body(body), single(singleOperation(body)), isAsWritten(isAsWritten) {
  for (const auto& [i, input] : llvm::enumerate(inputs)) {
    const mlir::Type element = elementOf(body.front().getArgument(static_cast<unsigned>(i)));
    const bool isWidened =
        !isAsWritten && single != nullptr &&
        (element.isF16() || element.isBF16() || narrowFormat(element) != nullptr);
    accumulators.push_back(isWidened ? mlir::Type(mlir::Float32Type::get(element.getContext()))
                                     : element);
    if (single != nullptr && element.isF32() && mlir::getElementTypeOrSelf(input).isF64())
      accumulators.back() = mlir::Float64Type::get(element.getContext());
    results.push_back(mlir::getElementTypeOrSelf(resultTypes[i]));
  }
}

llvm::Value* Combination::enter(Scalars& scalars, std::size_t i, mlir::Type from,
                                llvm::Value* value) const {
  return scalars.convert(from, accumulators[i], value);
}

llvm::Value* Combination::leave(Scalars& scalars, std::size_t i, llvm::Value* sum) const {
  return scalars.convert(accumulators[i], results[i], sum);
}

llvm::SmallVector<llvm::Value*> Combination::combine(Scalars& scalars,
                                                     llvm::ArrayRef<llvm::Value*> sums,
                                                     llvm::ArrayRef<llvm::Value*> elements) const {
  llvm::IRBuilder<>& b = scalars.b;
  const bool isOneInstruction =
      single != nullptr && (accumulators[0].isF32() || accumulators[0].isF64());
  if (!isOneInstruction) {
    llvm::SmallVector<llvm::Value*> arguments(sums);
    arguments.append(elements.begin(), elements.end());
    return emitBody(scalars, body, arguments);
  }
  if (llvm::isa<stablehlo::AddOp, stablehlo::MulOp>(single)) {
    const llvm::IRBuilder<>::FastMathFlagGuard guard(b);
    llvm::FastMathFlags flags;
    flags.setAllowReassoc(!isAsWritten);
    b.setFastMathFlags(flags);
    return {llvm::isa<stablehlo::AddOp>(single) ? b.CreateFAdd(sums[0], elements[0])
                                                : b.CreateFMul(sums[0], elements[0])};
  }
  const auto extremum =
      llvm::isa<stablehlo::MaxOp>(single) ? llvm::Intrinsic::maximum : llvm::Intrinsic::minimum;
  return {b.CreateBinaryIntrinsic(extremum, sums[0], elements[0])};
}

bool Combination::isSplit() const {
  return llvm::isa_and_nonnull<stablehlo::MaxOp, stablehlo::MinOp>(single) &&
         accumulators[0].isF32();
}

/// The parts for a max:
/// - the largest element, computed as if there were no NaN and no signed zero
/// - the largest magnitude as bits, which shows whether there was a NaN
/// - the bitwise and of all elements, whose sign is set if no element is +0 when the max is a zero
///
/// For a min, the third part is the bitwise or: its sign is set if an element is -0 when the min is
/// a zero.
llvm::SmallVector<llvm::Value*> Combination::split(Scalars& scalars,
                                                   llvm::ArrayRef<llvm::Value*> sums) const {
  if (!isSplit())
    return llvm::SmallVector<llvm::Value*>(sums);
  llvm::IRBuilder<>& b = scalars.b;
  llvm::Value* bits = b.CreateBitCast(sums[0], b.getInt32Ty());
  return {sums[0], b.CreateAnd(bits, b.getInt32(0x7FFFFFFF)), bits};
}

llvm::SmallVector<llvm::Value*>
Combination::combineSplit(Scalars& scalars, llvm::ArrayRef<llvm::Value*> parts,
                          llvm::ArrayRef<llvm::Value*> elements) const {
  if (!isSplit())
    return combine(scalars, parts, elements);
  llvm::IRBuilder<>& b = scalars.b;
  const bool isLargest = llvm::isa<stablehlo::MaxOp>(single);
  const auto other = split(scalars, elements);
  llvm::FastMathFlags flags;
  flags.setNoNaNs();
  flags.setNoSignedZeros();
  llvm::Value* extremum = b.CreateBinaryIntrinsic(
      isLargest ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, parts[0], other[0], flags);
  return {extremum, b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, parts[1], other[1]),
          isLargest ? b.CreateAnd(parts[2], other[2]) : b.CreateOr(parts[2], other[2])};
}

llvm::SmallVector<llvm::Value*> Combination::joined(Scalars& scalars,
                                                    llvm::ArrayRef<llvm::Value*> parts) const {
  if (!isSplit())
    return llvm::SmallVector<llvm::Value*>(parts);
  llvm::IRBuilder<>& b = scalars.b;
  llvm::Type* type = parts[0]->getType();
  llvm::Value* zero = b.CreateBitCast(b.CreateAnd(parts[2], b.getInt32(0x80000000)), type);
  llvm::Value* isZero = b.CreateFCmpOEQ(parts[0], llvm::ConstantFP::get(type, 0));
  llvm::Value* isNaN = b.CreateICmpUGT(parts[1], b.getInt32(0x7F800000));
  // With a NaN among the elements, the first part is undefined; it is not selected then.
  return {b.CreateSelect(isNaN, llvm::ConstantFP::getNaN(type),
                         b.CreateSelect(isZero, zero, parts[0]))};
}

} // namespace octavo::compiler
