// Custom calls of LAPACK (rule I27): by LAPACK's names, as JAX emits for the CPU, and by XLA's
// names, for every platform.
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Interpreter/Lapack/Calls.h"
#include "octavo/Interpreter/Tensor/Movement.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

namespace octavo::interpreter {

namespace {

constexpr llvm::StringLiteral kPrefix = "lapack_", kSuffix = "_ffi";

/// Whether a call has the letter of the element type in its name, one target for each type.
bool isTyped(const lapack::Call& call) {
  return call.name.front() >= 'a' && !llvm::StringRef(call.name).ends_with(kSuffix);
}

std::string targetOf(const lapack::Call& call, char type) {
  const std::string_view name = type == 'c' || type == 'z' ? call.complexName : call.name;
  return isTyped(call) ? (kPrefix + llvm::Twine(type) + llvm::StringRef(name) + kSuffix).str()
                       : std::string(name);
}

/// LAPACK's letter for an element type; 0 if it has none.
char letterOf(const ElementType& type) {
  const bool isComplex = type.isComplex();
  if (!isComplex && !type.isFloat())
    return 0;
  const ElementFormat& part = isComplex ? type.part() : type.format();
  if (part == format::element("f32"))
    return isComplex ? 'c' : 's';
  return part == format::element("f64") ? (isComplex ? 'z' : 'd') : 0;
}

struct Target {
  const lapack::Call* call;
  char type;
};

const llvm::StringMap<Target>& targets() {
  static const llvm::StringMap<Target> table = [] {
    llvm::StringMap<Target> all;
    for (const lapack::Call& call : lapack::calls())
      for (char type : {'s', 'd', 'c', 'z'})
        all[targetOf(call, type)] = {&call, type};
    return all;
  }();
  return table;
}

using Axes = std::vector<std::int64_t>;

/// The axes of a tensor in memory order, outermost first: by the call's layout. A call without
/// layouts is row-major, except that matrices are column-major if `isMatrix`.
Axes memoryOrder(std::optional<mlir::ArrayAttr> layouts, std::size_t number, std::size_t rank,
                 bool isMatrix) {
  Axes order(rank);
  for (std::size_t axis = 0; axis < rank; ++axis)
    order[axis] = static_cast<std::int64_t>(axis);
  if (layouts && number < layouts->size()) {
    auto layout = llvm::dyn_cast<mlir::DenseIntElementsAttr>((*layouts)[number]);
    if (layout && layout.getNumElements() == static_cast<std::int64_t>(rank)) {
      const auto minorFirst = layout.getValues<std::int64_t>();
      std::reverse_copy(minorFirst.begin(), minorFirst.end(), order.begin());
    }
  } else if (isMatrix) {
    std::swap(order[rank - 1], order[rank - 2]);
  }
  return order;
}

/// The tensor with its elements in memory order; the shape stays.
Tensor toMemory(const Tensor& tensor, const Axes& order) {
  Tensor moved = transpose(tensor, order);
  moved.shape = tensor.shape;
  return moved;
}

Tensor fromMemory(Tensor tensor, const Axes& order) {
  std::vector<std::int64_t> shape;
  Axes inverse(order.size());
  for (auto [place, axis] : llvm::enumerate(order)) {
    shape.push_back(tensor.shape[static_cast<std::size_t>(axis)]);
    inverse[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(place);
  }
  tensor.shape = std::move(shape);
  return transpose(tensor, inverse);
}

/// The value of an option; nullopt if it is not given. The option "lower" of Eigh is in the call's
/// text, which begins with "1," for the lower triangle.
std::optional<std::int64_t> optionOf(stablehlo::CustomCallOp op, std::string_view name) {
  if (auto text = op->getAttrOfType<mlir::StringAttr>("backend_config");
      text && op.getCallTargetName() == "Eigh" && name == "lower")
    return text.getValue().starts_with("1,") ? 1 : 0;
  auto value = llvm::dyn_cast_or_null<mlir::IntegerAttr>(configuration(op, name));
  if (!value || value.getValue().getBitWidth() > 64)
    return std::nullopt;
  return value.getType().isSignlessInteger() && value.getValue().getBitWidth() > 8
             ? value.getValue().getSExtValue()
             : static_cast<std::int64_t>(value.getValue().getZExtValue());
}

llvm::Expected<Results> lapackCall(stablehlo::CustomCallOp op, const Operands& operands,
                                   Evaluation&) {
  const Target target = targets().lookup(op.getCallTargetName());
  const auto wrong = [&](const llvm::Twine& message) {
    return failure(op, "'" + op.getCallTargetName() + "' " + message);
  };
  for (const Value& operand : operands)
    if (!operand.isTensor())
      return wrong("takes tensors; found " + describe(operand));
  if (operands.empty())
    return wrong("takes operands; there are none");
  if (isTyped(*target.call) && letterOf(operands[0].tensor().type) != target.type)
    return wrong("takes elements of " +
                 llvm::Twine(target.type == 's'   ? "f32"
                             : target.type == 'd' ? "f64"
                             : target.type == 'c' ? "complex<f32>"
                                                  : "complex<f64>") +
                 "; found " + describe(operands[0]));
  const std::size_t matrixRank = operands[0].tensor().shape.size();
  const bool takesMatrices = !isTyped(*target.call) && matrixRank >= 2;
  std::vector<Tensor> inMemory, outMemory;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    const std::size_t rank = operand.tensor().shape.size();
    inMemory.push_back(
        toMemory(operand.tensor(), memoryOrder(op.getOperandLayouts(), i, rank,
                                               takesMatrices && rank == matrixRank)));
  }
  for (mlir::Value result : op.getResults()) {
    llvm::Expected<TensorShape> shape = tensorShape(op, result.getType());
    if (!shape)
      return shape.takeError();
    outMemory.push_back(Tensor::zeros(shape->type, shape->shape));
  }
  auto computed = lapack::run(*target.call, std::move(inMemory), std::move(outMemory),
                              [&](std::string_view name) { return optionOf(op, name); });
  if (!computed)
    return wrong(computed.error());
  Results results;
  for (auto [i, tensor] : llvm::enumerate(*computed)) {
    const std::size_t rank = tensor.shape.size();
    results.emplace_back(
        fromMemory(std::move(tensor), memoryOrder(op.getResultLayouts(), i, rank,
                                                  takesMatrices && rank == matrixRank)));
  }
  return results;
}

/// The permutation of rows for pivots, which count from 0 and are swaps in order.
llvm::Expected<Results> permutationCall(stablehlo::CustomCallOp op, const Operands& operands,
                                        Evaluation&) {
  const ElementType integers = IntegerType{32, false};
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  if (operands.size() != 1 || op.getNumResults() != 1 || !operands[0].isTensor() ||
      operands[0].tensor().type != integers || result->type != integers ||
      operands[0].tensor().shape.empty() ||
      result->shape.size() != operands[0].tensor().shape.size() ||
      !std::equal(result->shape.begin(), result->shape.end() - 1,
                  operands[0].tensor().shape.begin()))
    return failure(op, "'" + op.getCallTargetName() +
                           "' takes pivots and gives a permutation, tensors of i32 that differ in "
                           "their last axis alone");
  const Tensor& pivots = operands[0].tensor();
  Tensor rows = Tensor::zeros(integers, result->shape);
  const std::int64_t steps = pivots.shape.back(), size = rows.shape.back();
  for (std::int64_t line = 0; size != 0 && line < rows.size() / size; ++line) {
    const auto row = rows.as<std::int32_t>().subspan(static_cast<std::size_t>(line * size),
                                                     static_cast<std::size_t>(size));
    std::iota(row.begin(), row.end(), 0);
    for (std::int64_t i = 0; i < steps; ++i) {
      const std::int32_t with =
          pivots.as<std::int32_t>()[static_cast<std::size_t>(line * steps + i)];
      // As in XLA, a pivot that is not a row is ignored.
      if (i >= size || with < 0 || with >= size)
        continue;
      std::swap(row[static_cast<std::size_t>(i)], row[static_cast<std::size_t>(with)]);
    }
  }
  return Results{Value(std::move(rows))};
}

} // namespace

void registerLapackCalls(CustomCallTable& table) {
  table.add("cu_lu_pivots_to_permutation", permutationCall);
  table.add("hip_lu_pivots_to_permutation", permutationCall);
  for (const auto& target : targets())
    table.add(target.getKey(), lapackCall);
}

} // namespace octavo::interpreter
