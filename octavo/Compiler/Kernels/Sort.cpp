#include "octavo/Compiler/Kernels/Sort.h"

#include "octavo/Compiler/Kernels/Arithmetic.h"
#include "octavo/Compiler/Kernels/FunctionCode.h"
#include "octavo/Compiler/Kernels/Members.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/ComparatorKeys.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>

namespace octavo::compiler {

namespace {

/// Adds arguments for the inputs whose elements the comparator uses.
void addUsedInputs(FunctionCode& function, stablehlo::SortOp op) {
  mlir::Block& block = op.getComparator().front();
  for (mlir::BlockArgument argument : block.getArguments()) {
    const mlir::Value input = op.getInputs()[argument.getArgNumber() / 2];
    if (!argument.use_empty() && !function.isArgument(input))
      function.addArgument(input);
  }
}

Index elementNumber(FunctionCode& function, llvm::Value* number, std::int64_t size) {
  return Index::variable(function.define(number, size), size);
}

KernelCode emitComparator(stablehlo::SortOp op) {
  FunctionCode function;
  addUsedInputs(function, op);
  const unsigned answer = function.addMemory();
  function.begin();
  const std::int64_t size = sizeOf(op.getInputs()[0]);
  const Index sides[] = {elementNumber(function, function.firstRow(), size),
                         elementNumber(function, function.endRow(), size)};
  llvm::SmallVector<llvm::Value*> arguments;
  for (mlir::BlockArgument argument : op.getComparator().front().getArguments())
    arguments.push_back(argument.use_empty()
                            ? nullptr
                            : function.element(op.getInputs()[argument.getArgNumber() / 2],
                                               sides[argument.getArgNumber() % 2]));
  llvm::Value* isBefore = emitBody(function.scalars, op.getComparator(), arguments).front();
  llvm::IRBuilder<>& b = function.b;
  b.CreateStore(b.CreateZExt(isBefore, b.getInt8Ty()), function.memory(answer));
  return function.finish();
}

/// Emits a function of the comparator's left elements, for element number `linear`.
llvm::Value* valueAt(FunctionCode& function, stablehlo::SortOp op, mlir::Value value,
                     const Index& linear) {
  if (auto argument = mlir::dyn_cast<mlir::BlockArgument>(value))
    return function.element(op.getInputs()[argument.getArgNumber() / 2], linear);
  if (const auto bits = splatBits(value))
    return function.scalars.constant(elementOf(value), *bits);
  llvm::SmallVector<llvm::Value*> operands;
  for (mlir::Value operand : value.getDefiningOp()->getOperands())
    operands.push_back(valueAt(function, op, operand, linear));
  return emitElementwise(function.scalars, value.getDefiningOp(), operands);
}

/// A number whose unsigned order is the order of elements of the type. IEEE's order (not
/// `isTotalOrder`) has one zero.
llvm::Value* orderOf(Scalars& scalars, mlir::Type type, llvm::Value* value, bool isTotalOrder,
                     llvm::Type* result) {
  llvm::IRBuilder<>& b = scalars.b;
  if (mlir::isa<mlir::FloatType>(type)) {
    if (const format::ElementFormat* format = narrowFormat(type))
      value = scalars.decode(*format, value);
    if (!isTotalOrder)
      value = b.CreateFAdd(value, llvm::ConstantFP::get(value->getType(), 0.0));
    const unsigned width = value->getType()->getPrimitiveSizeInBits();
    value = b.CreateBitCast(value, b.getIntNTy(width));
    value = b.CreateXor(value, b.CreateLShr(b.CreateAShr(value, width - 1), 1));
  }
  if (isUnsigned(type))
    return b.CreateZExt(value, result);
  value = b.CreateSExt(value, result);
  const unsigned width = result->getIntegerBitWidth();
  return b.CreateXor(value,
                     llvm::ConstantInt::get(b.getContext(), llvm::APInt::getSignMask(width)));
}

std::optional<SortCode::Keys> emitKeys(stablehlo::SortOp op) {
  const auto keys = stablehlo::comparatorKeys(op.getComparator());
  if (!keys)
    return std::nullopt;
  const bool isWide = llvm::any_of(*keys, [](const stablehlo::ComparatorKey& key) {
    return elementOf(key.left).getIntOrFloatBitWidth() > 32;
  });
  FunctionCode function;
  addUsedInputs(function, op);
  const unsigned numbers = function.addMemory(), flag = function.addMemory();
  function.begin();
  llvm::IRBuilder<>& b = function.b;
  llvm::Type* type = isWide ? b.getInt64Ty() : b.getInt32Ty();
  const std::int64_t size = sizeOf(op.getInputs()[0]);
  function.forRange(function.firstRow(), function.endRow(), [&](llvm::Value* i) {
    const Index linear = elementNumber(function, i, size);
    for (const auto& [number, key] : llvm::enumerate(*keys)) {
      llvm::Value* order = orderOf(function.scalars, elementOf(key.left),
                                   valueAt(function, op, key.left, linear), key.isTotalOrder, type);
      if (key.isDescending)
        order = b.CreateNot(order);
      llvm::Value* first = b.CreateNSWMul(i, b.getInt64(static_cast<std::int64_t>(keys->size())));
      llvm::Value* place = b.CreateNSWAdd(first, b.getInt64(static_cast<std::int64_t>(number)));
      b.CreateStore(order, b.CreateInBoundsGEP(type, function.memory(numbers), place));
    }
  });
  // A separate loop, which stores nothing.
  llvm::SmallVector<const stablehlo::ComparatorKey*> ordered;
  for (const stablehlo::ComparatorKey& key : *keys)
    if (!key.isTotalOrder && mlir::isa<mlir::FloatType>(elementOf(key.left)))
      ordered.push_back(&key);
  if (!ordered.empty()) {
    const Elements::Values any = function.repeat(
        b.CreateSub(function.endRow(), function.firstRow()), {b.getFalse()},
        [&](llvm::Value* turn, const Elements::Values& running) -> Elements::Values {
          const Index linear =
              elementNumber(function, b.CreateNSWAdd(turn, function.firstRow()), size);
          llvm::Value* found = running[0];
          for (const stablehlo::ComparatorKey* key : ordered) {
            llvm::Value* value = valueAt(function, op, key->left, linear);
            if (const format::ElementFormat* format = narrowFormat(elementOf(key->left)))
              value = function.scalars.decode(*format, value);
            found = b.CreateOr(found, b.CreateFCmpUNO(value, value));
          }
          return {found};
        });
    function.when(any[0], [&] { b.CreateStore(b.getInt8(1), function.memory(flag)); });
  }
  return SortCode::Keys{function.finish(), static_cast<std::int64_t>(keys->size()), isWide ? 8 : 4};
}

} // namespace

std::string whyNoSort(stablehlo::SortOp op) {
  for (mlir::Value input : op.getInputs()) {
    auto tensor = mlir::dyn_cast<mlir::RankedTensorType>(input.getType());
    if (!tensor || !tensor.hasStaticShape() || !elementType(tensor.getElementType()))
      return "its elements have no place in memory";
    if (llvm::any_of(tensor.getShape(), [](std::int64_t extent) {
          return extent > std::numeric_limits<std::int32_t>::max();
        }))
      return "its lines are too long";
  }
  return whyNoBody(op.getComparator());
}

SortCode emitSort(stablehlo::SortOp op) { return {emitComparator(op), emitKeys(op)}; }

} // namespace octavo::compiler
