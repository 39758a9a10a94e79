#include "octavo/Base/ByteText.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Interpreter/Evaluator.h"

#include "mlir/Dialect/Shape/IR/Shape.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Support/DebugStringHelper.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <unistd.h>

namespace octavo::interpreter {

namespace {

/// The most elements of a tensor: 16 GiB of f32. A program that needs more is wrong, or not for the
/// interpreter.
constexpr std::int64_t kMaxElements = std::int64_t{1} << 32;

/// The element type of `type`; i64 for MLIR's index.
std::optional<ElementType> evaluatedElementType(mlir::Type type) {
  if (llvm::isa<mlir::IndexType>(type))
    return ElementType(numerics::IntegerType{64, false});
  return octavo::elementType(type);
}

/// The advice in errors about results whose extents differ from their type.
constexpr llvm::StringLiteral kDeclaredOtherwise =
    "; the sizes that the operation is given must make the type that the program declares: give "
    "others, or declare the extent as ?";

std::string shapeText(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (std::int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text;
}

bool isTooLarge(llvm::ArrayRef<std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t extent : shape)
    if (extent == 0)
      return false;
  for (std::int64_t extent : shape) {
    if (extent > kMaxElements / n)
      return true;
    n *= extent;
  }
  return false;
}

/// The machine's memory in bytes.
std::uint64_t machineMemory() {
  static const std::uint64_t bytes = static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
                                     static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

} // namespace

std::string describe(const Value& value) {
  if (value.isTensor())
    return "tensor<" + shapeText(value.tensor().shape) + value.tensor().type.name() + ">";
  if (value.isToken())
    return "a token";
  if (value.isScaled())
    return "a scaled tensor of " + shapeText(value.scaled().shape) +
           std::string(value.scaled().type.element->irName());
  std::string text;
  for (const Value& element : value.elements())
    text += (text.empty() ? "" : ", ") + describe(element);
  return "tuple<" + text + ">";
}

std::string mismatch(const Value& value, mlir::Type type) {
  const auto expected = [&] {
    return "expected " + mlir::debugString(type) + ", found " + describe(value);
  };
  if (auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(type)) {
    const auto element = evaluatedElementType(ranked.getElementType());
    const bool fits = value.isTensor() && element && value.tensor().type == *element &&
                      stablehlo::areCompatible(stablehlo::knownExtents(value.tensor().shape),
                                               stablehlo::extentsOf(ranked));
    return fits ? "" : expected();
  }
  if (llvm::isa<stablehlo::TokenType>(type))
    return value.isToken() ? "" : expected();
  const auto elementsFit = [&](llvm::ArrayRef<mlir::Type> types) -> std::string {
    if (!value.isTuple() || value.elements().size() != types.size())
      return expected();
    for (auto [element, elementType] : llvm::zip_equal(value.elements(), types))
      if (std::string wrong = mismatch(element, elementType); !wrong.empty())
        return wrong;
    return {};
  };
  if (auto tuple = llvm::dyn_cast<mlir::TupleType>(type))
    return elementsFit(tuple.getTypes());
  if (auto future = llvm::dyn_cast<stablehlo::FutureType>(type))
    return elementsFit(future.getTypes());
  if (auto scaled = llvm::dyn_cast<ir::ScaledType>(type)) {
    if (!value.isScaled())
      return expected();
    const ScaledTensor& found = value.scaled();
    if (failed(mlir::verifyCompatibleShape(scaled.getShape(), found.shape)) ||
        scaled.withShape(found.shape).getKind() != found.type)
      return expected();
    const std::int64_t scales =
        numerics::elementCount(format::scaleShape(found.shape, found.type.block));
    const bool fits =
        static_cast<std::int64_t>(found.elements.size()) == numerics::elementCount(found.shape) &&
        static_cast<std::int64_t>(found.scales.size()) == scales;
    return fits ? "" : expected();
  }
  // Scalars of MLIR's own dialects are tensors of rank 0.
  if (const auto element = evaluatedElementType(type)) {
    const bool fits =
        value.isTensor() && value.tensor().shape.empty() && value.tensor().type == *element;
    return fits ? "" : expected();
  }
  const std::size_t rank = llvm::isa<mlir::shape::ShapeType>(type) ? 1 : 0;
  if (rank == 1 || llvm::isa<mlir::shape::SizeType>(type)) {
    const bool fits = value.isTensor() && value.tensor().shape.size() == rank &&
                      value.tensor().type == ElementType(numerics::IntegerType{64, false});
    return fits ? "" : expected();
  }
  if (llvm::isa<mlir::shape::WitnessType>(type))
    return value.isToken() ? "" : expected();
  return "values of type " + mlir::debugString(type) + " are not evaluated";
}

llvm::Expected<TensorShape> tensorShape(mlir::Operation* op, mlir::Type type) {
  auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!ranked)
    return failure(op, mlir::debugString(type) + " is not a tensor of known rank");
  if (!ranked.hasStaticShape())
    return failure(op, "the shape of its result is known neither from " + mlir::debugString(type) +
                           " nor from its operands");
  llvm::Expected<ElementType> element = elementTypeOf(op, type);
  if (!element)
    return element.takeError();
  if (llvm::Error error = checkSize(op, ranked.getShape()))
    return std::move(error);
  const auto bytes = static_cast<std::uint64_t>(numerics::elementCount(ranked.getShape())) *
                     static_cast<std::uint64_t>(element->bytes());
  if (bytes > machineMemory())
    return failure(op, "a result of " + mlir::debugString(type) + " takes " +
                           base::bytesText(bytes) + "; this machine has " +
                           base::bytesText(machineMemory()) + " of memory");
  return TensorShape{*element, ranked.getShape().vec()};
}

llvm::Expected<ElementType> elementTypeOf(mlir::Operation* op, mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor && !type.isIntOrIndexOrFloat())
    return failure(op, mlir::debugString(type) + " is not a tensor of known rank");
  const mlir::Type element = tensor ? tensor.getElementType() : type;
  if (const auto found = evaluatedElementType(element))
    return *found;
  return failure(op, "elements of " + mlir::debugString(element) + " are not evaluated");
}

llvm::Error checkSize(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape) {
  const auto described = [&] {
    return "a tensor of shape [" +
           llvm::join(llvm::map_range(shape, [](std::int64_t n) { return std::to_string(n); }),
                      ", ") +
           "]";
  };
  if (isTooLarge(shape))
    return failure(op, described() + " has more elements than the interpreter holds, which is " +
                           llvm::Twine(kMaxElements));
  // Uses the first result's element type for all results; that is accurate enough for a memory
  // limit.
  const auto element =
      op->getNumResults() == 0
          ? std::nullopt
          : evaluatedElementType(mlir::getElementTypeOrSelf(op->getResult(0).getType()));
  const auto bytes = static_cast<std::uint64_t>(numerics::elementCount(shape)) *
                     static_cast<std::uint64_t>(element ? element->bytes() : 1);
  if (bytes > machineMemory())
    return failure(op, described() + " takes " + base::bytesText(bytes) + "; this machine has " +
                           base::bytesText(machineMemory()) + " of memory");
  return llvm::Error::success();
}

llvm::Error checkResultShape(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape) {
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(op->getResult(0).getType());
  if (type && !stablehlo::areCompatible(stablehlo::knownExtents(shape), stablehlo::extentsOf(type)))
    return failure(
        op, "result: expected " + mlir::debugString(type) + ", found a tensor of shape [" +
                llvm::join(llvm::map_range(shape, [](std::int64_t n) { return std::to_string(n); }),
                           ", ") +
                "]" + kDeclaredOtherwise.str());
  return checkSize(op, shape);
}

llvm::Error checkResult(mlir::Operation* op, unsigned number, const Value& value) {
  const mlir::Type type = op->getResult(number).getType();
  const std::string wrong = mismatch(value, type);
  if (wrong.empty())
    return llvm::Error::success();
  const auto ranked = llvm::dyn_cast<mlir::RankedTensorType>(type);
  const bool isOfShape = ranked && value.isTensor() &&
                         evaluatedElementType(ranked.getElementType()) == value.tensor().type;
  return failure(op, "result: " + wrong + (isOfShape ? kDeclaredOtherwise.str() : ""));
}

llvm::Expected<TensorShape> resultShape(mlir::Operation* op) {
  return tensorShape(op, op->getResult(0).getType());
}

llvm::Expected<ElementType> resultElementType(mlir::Operation* op) {
  return elementTypeOf(op, op->getResult(0).getType());
}

} // namespace octavo::interpreter
