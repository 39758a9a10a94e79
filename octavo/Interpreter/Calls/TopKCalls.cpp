// Custom calls that return the first elements of each line in a sorted order.
#include "octavo/Interpreter/Calls/CustomCalls.h"
#include "octavo/Interpreter/Calls/TopK.h"
#include "octavo/Interpreter/StableHLO/SortKeys.h"
#include "octavo/Interpreter/StableHLO/SortedBy.h"
#include "octavo/Interpreter/Tensor/Map.h"
#include "octavo/Interpreter/Tensor/Permutation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"

namespace octavo::interpreter {

llvm::Expected<Results> topK(mlir::Operation* op, const Tensor& x, std::int64_t k,
                             Extreme extreme) {
  if (x.shape.empty() || k < 0 || k > x.shape.back())
    return failure(op, "takes " + llvm::Twine(k) + " of each line of " + describe(Value(x)));
  if (!x.type.isFloat() && !x.type.isInteger())
    return failure(op, Undefined{x.type}.message());
  Permutation permutation(x.shape, static_cast<std::int64_t>(x.shape.size()) - 1);
  const std::vector<std::int64_t> keys[] = {totalOrderKeys(x, extreme == Extreme::Largest)};
  permutation.sort(keys);
  Tensor indices = Tensor::zeros(IntegerType{32, false}, x.shape);
  for (std::int64_t i = 0; i < indices.size(); ++i)
    indices.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % x.shape.back());
  return Results{Value(permutation.apply(x, k)), Value(permutation.apply(indices, k))};
}

namespace {

llvm::Error wrong(stablehlo::CustomCallOp op, const llvm::Twine& message) {
  return failure(op, "'" + op.getCallTargetName() + "' " + message);
}

/// The number in an operand, which must be one integer.
llvm::Expected<std::int64_t> count(stablehlo::CustomCallOp op, const Value& operand) {
  if (!operand.isTensor() || !operand.tensor().type.isInteger() || operand.tensor().size() != 1)
    return wrong(op, "takes how many as one integer; found " + describe(operand));
  const Tensor& tensor = operand.tensor();
  return static_cast<std::int64_t>(extend(tensor.type.integer(), tensor.code(0)));
}

/// The operand is one tensor; the result's extent is k.
llvm::Expected<Results> topKCall(stablehlo::CustomCallOp op, const Operands& operands,
                                 Evaluation&) {
  if (operands.size() != 1 || !operands[0].isTensor() || op.getNumResults() != 2)
    return wrong(op, "takes one tensor and gives values and indices");
  llvm::Expected<TensorShape> result = resultShape(op);
  if (!result)
    return result.takeError();
  if (result->shape.empty())
    return wrong(op, "gives tensors with an axis");
  const auto attributes = op->getAttrOfType<mlir::DictionaryAttr>("mhlo.attributes");
  const auto largest = attributes ? attributes.getAs<mlir::BoolAttr>("largest") : mlir::BoolAttr();
  return topK(op, operands[0].tensor(), result->shape.back(),
              !largest || largest.getValue() ? Extreme::Largest : Extreme::Smallest);
}

/// Operands: a tensor, and k.
llvm::Expected<Results> dynamicTopKCall(stablehlo::CustomCallOp op, const Operands& operands,
                                        Evaluation&) {
  if (operands.size() != 2 || !operands[0].isTensor())
    return wrong(op, "takes a tensor and how many");
  llvm::Expected<std::int64_t> k = count(op, operands[1]);
  if (!k)
    return k.takeError();
  return topK(op, operands[0].tensor(), *k, Extreme::Largest);
}

/// Operands: tensors of one shape; an initial value for each, which is not needed for exact
/// results; and k, if `hasCount`. The comparator is the function that the call names.
template <bool hasCount>
llvm::Expected<Results> approxTopKCall(stablehlo::CustomCallOp op, const Operands& operands,
                                       Evaluation& evaluation) {
  const std::size_t inputs = (operands.size() - (hasCount && !operands.empty())) / 2;
  if (inputs == 0 || operands.size() != 2 * inputs + hasCount || op.getNumResults() != inputs)
    return wrong(op, "takes tensors, an initial value for each" +
                         llvm::Twine(hasCount ? ", and how many" : "") +
                         ", and gives as many tensors");
  const Operands tensors = operands.take_front(inputs);
  for (const Value& tensor : tensors)
    if (!tensor.isTensor() || tensor.tensor().shape != tensors[0].tensor().shape)
      return wrong(op, "takes tensors of one shape; found " + describe(tensors[0]) + " and " +
                           describe(tensor));
  const std::vector<std::int64_t>& shape = tensors[0].tensor().shape;
  const auto axis = llvm::dyn_cast_or_null<mlir::IntegerAttr>(configuration(op, "reduction_dim"));
  if (!axis || axis.getInt() < 0 || axis.getInt() >= static_cast<std::int64_t>(shape.size()))
    return wrong(op, "has no reduction_dim in its configuration that is an axis of " +
                         describe(tensors[0]));
  const auto called = op.getCalledComputations();
  auto comparator = called.size() == 1
                        ? mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(
                              op, llvm::cast<mlir::FlatSymbolRefAttr>(called[0]))
                        : mlir::func::FuncOp();
  const auto isTruth = [](mlir::Type type) {
    return mlir::getElementTypeOrSelf(type).isInteger(1);
  };
  if (!comparator || comparator.isExternal() || comparator.getNumArguments() != 2 * inputs ||
      comparator.getNumResults() != 1 || !isTruth(comparator.getResultTypes()[0]))
    return wrong(op,
                 "calls one function that compares two elements of each tensor, and gives an i1");
  std::int64_t kept = 0;
  if constexpr (hasCount) {
    llvm::Expected<std::int64_t> k = count(op, operands.back());
    if (!k)
      return k.takeError();
    kept = *k;
  } else {
    llvm::Expected<TensorShape> result = resultShape(op);
    if (!result)
      return result.takeError();
    if (result->shape.size() != shape.size())
      return wrong(op, "gives tensors of the rank of its operands");
    kept = result->shape[static_cast<std::size_t>(axis.getInt())];
  }
  if (kept < 0 || kept > shape[static_cast<std::size_t>(axis.getInt())])
    return wrong(op, "takes " + llvm::Twine(kept) + " of each line of " + describe(tensors[0]));
  auto order = sortedBy(comparator.getBody(), tensors, axis.getInt(), evaluation);
  if (!order)
    return order.takeError();
  Results results;
  for (const Value& tensor : tensors)
    results.emplace_back(order->apply(tensor.tensor(), kept));
  return results;
}

} // namespace

void registerTopKCalls(CustomCallTable& table) {
  table.add("ApproxTopK", approxTopKCall<false>);
  table.add("TopK", topKCall);
  table.add("mhlo.topk", topKCall);
  table.add("stablehlo.dynamic_approx_top_k", approxTopKCall<true>);
  table.add("stablehlo.dynamic_top_k", dynamicTopKCall);
}

} // namespace octavo::interpreter
