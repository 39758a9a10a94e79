// The table of custom calls, and the targets that are too small for a file.
#include "octavo/Interpreter/Calls/CustomCalls.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Interpreter/StableHLO/ElementwiseEvaluator.h"
#include "octavo/Interpreter/Tensor/Arithmetic.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace octavo::interpreter {

namespace {

/// Annotations of sharding or placement: returns the operand.
llvm::Expected<Results> sameValueCall(stablehlo::CustomCallOp op, const Operands& operands,
                                      Evaluation&) {
  if (operands.size() != 1 || op.getNumResults() != 1)
    return failure(op, "'" + op.getCallTargetName() + "' takes one value and gives one");
  return taken(operands);
}

/// Allocates a buffer that the program fills before it reads it; the interpreter gives zeros.
llvm::Expected<Results> allocateBufferCall(stablehlo::CustomCallOp op, const Operands& operands,
                                           Evaluation&) {
  if (!operands.empty() || op.getNumResults() != 1)
    return failure(op, "'AllocateBuffer' takes nothing and gives one tensor");
  llvm::Expected<TensorShape> shape = resultShape(op);
  if (!shape)
    return shape.takeError();
  return Results{Value(Tensor::zeros(shape->type, shape->shape))};
}

/// A target that only keeps its operands from being removed as unused.
llvm::Expected<Results> sinkCall(stablehlo::CustomCallOp op, const Operands&, Evaluation&) {
  if (op.getNumResults() != 0)
    return failure(op, "'dce_sink' gives nothing");
  return Results{};
}

llvm::Expected<Results> erfCall(stablehlo::CustomCallOp op, const Operands& operands,
                                Evaluation& evaluation) {
  if (operands.size() != 1 || op.getNumResults() != 1)
    return failure(op, "'mhlo.erf' takes one tensor and gives one");
  return evaluateUnary<Erf>(op, operands, evaluation);
}

/// The assertions of jax.export about shapes. The first operand must be true. Otherwise
/// error_message is the error, with {0}, {1}, ... replaced by the other operands, which are
/// integers.
llvm::Expected<Results> shapeAssertionCall(stablehlo::CustomCallOp op, const Operands& operands,
                                           Evaluation&) {
  const auto isNumber = [](const Value& value) {
    return value.isTensor() && value.tensor().type.isInteger() && value.tensor().size() == 1;
  };
  if (operands.empty() || !operands[0].isTensor() || !operands[0].tensor().type.isBoolean() ||
      operands[0].tensor().size() != 1 || !llvm::all_of(operands.drop_front(), isNumber) ||
      op.getNumResults() != 0)
    return failure(op, "shape_assertion takes a truth and the integers of its message, and gives "
                       "nothing");
  if (operands[0].tensor().code(0) != 0)
    return Results();
  const auto message = op->getAttrOfType<mlir::StringAttr>("error_message");
  std::string text = message ? message.str() : "an assertion on shapes is false";
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::string place = "{" + std::to_string(i - 1) + "}";
    const std::string number =
        std::to_string(static_cast<std::int64_t>(decodeIntegers(operands[i].tensor()).front()));
    for (std::size_t at = text.find(place); at != std::string::npos;
         at = text.find(place, at + number.size()))
      text.replace(at, place.size(), number);
  }
  return failure(op, text);
}

/// "tensor<2xf32>, tensor<i32>", for messages.
std::string operandTypes(mlir::Operation* op) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(op->getOperandTypes(), stream);
  return text;
}

/// "a, b and c".
std::string joined(const std::vector<std::string>& names) {
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i)
    text += (i + 1 == names.size() ? " and " : ", ") + names[i];
  return text;
}

llvm::Error unknownTarget(stablehlo::CustomCallOp op) {
  const llvm::StringRef name = op.getCallTargetName();
  const std::vector<std::string> known = customCalls().targets();
  const std::vector<std::string> near = base::nearNames(name.str(), known);
  return failure(op, "the interpreter does not know the target '" + name + "', called on (" +
                         operandTypes(op) + ")" +
                         (near.empty() ? "" : "; did you mean " + joined(near) + "?") +
                         "\n  it knows " + base::someOf(known));
}

llvm::Expected<Results> evaluateCustomCall(stablehlo::CustomCallOp op, const Operands& operands,
                                           Evaluation& evaluation) {
  const CustomCall call = customCalls().find(op.getCallTargetName());
  if (call == nullptr)
    return unknownTarget(op);
  return call(op, operands, evaluation);
}

} // namespace

std::vector<std::string> CustomCallTable::targets() const {
  std::vector<std::string> names;
  for (const auto& entry : table)
    names.push_back(entry.getKey().str());
  std::sort(names.begin(), names.end());
  return names;
}

const CustomCallTable& customCalls() {
  static const CustomCallTable table = [] {
    CustomCallTable t;
    for (const char* target :
         {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"})
      t.add(target, sameValueCall);
    t.add("AllocateBuffer", allocateBufferCall);
    t.add("dce_sink", sinkCall);
    t.add("mhlo.erf", erfCall);
    t.add("shape_assertion", shapeAssertionCall);
    for (auto* addFile : {registerBlockScalingCalls, registerCheckCalls, registerJaxCalls,
                          registerLapackCalls, registerRandomCalls, registerTopKCalls})
      addFile(t);
    return t;
  }();
  return table;
}

mlir::Attribute configuration(stablehlo::CustomCallOp op, llvm::StringRef name) {
  for (llvm::StringRef place : {"backend_config", "mhlo.backend_config"})
    if (auto dictionary = op->getAttrOfType<mlir::DictionaryAttr>(place))
      if (mlir::Attribute value = dictionary.get(name))
        return value;
  return nullptr;
}

void registerCustomCalls(EvaluatorTable& table) { table.add<evaluateCustomCall>(); }

} // namespace octavo::interpreter
