#include "octavo/Transforms/Quantize/ProbeDots.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Interpreter/Interpreter.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Walks/DotNumbers.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace octavo::transforms {

static constexpr llvm::StringLiteral kPrefix = "octavo.dot/";

/// The tensor that an operand was quantized from.
static mlir::Value wideOperand(mlir::Value operand) {
  auto quantize = operand.getDefiningOp<ir::QuantizeOp>();
  return quantize ? quantize.getOperand() : operand;
}

static std::optional<OperandQuantization> quantizationOf(mlir::Value operand) {
  auto quantize = operand.getDefiningOp<ir::QuantizeOp>();
  if (!quantize)
    return std::nullopt;
  const auto type = llvm::cast<ir::ScaledType>(quantize.getResult().getType());
  return OperandQuantization{
      type.getKind(),
      quantize.getQuantization().getOptions(
          type, *elementFormat(mlir::getElementTypeOrSelf(quantize.getOperand().getType())))};
}

static void probe(mlir::OpBuilder& builder, mlir::Value value, std::size_t number, DotValue what) {
  interpreter::ProbeOp::create(builder, value.getLoc(), value, dotProbeName(number, what));
}

std::vector<ProbedDot> probeDots(mlir::ModuleOp module) {
  module.getContext()->getOrLoadDialect<interpreter::InterpreterDialect>();
  llvm::SmallVector<ir::DotGeneralOp> dots;
  module.walk([&](ir::DotGeneralOp op) {
    if (numberOfDot(op))
      dots.push_back(op);
  });
  std::vector<ProbedDot> probed;
  for (ir::DotGeneralOp op : dots) {
    const std::size_t number = *numberOfDot(op);
    mlir::OpBuilder builder(op);
    const mlir::Value lhs = wideOperand(op.getLhs()), rhs = wideOperand(op.getRhs());
    probe(builder, lhs, number, DotValue::Lhs);
    probe(builder, rhs, number, DotValue::Rhs);
    builder.setInsertionPointAfter(op);
    probe(builder, op.getResult(), number, DotValue::Result);
    auto wide = stablehlo::DotGeneralOp::create(
        builder, op.getLoc(), op.getResult().getType(), lhs, rhs, op.getDotDimensionNumbers(),
        /*precision_config=*/nullptr, /*algorithm=*/nullptr);
    probe(builder, wide.getResult(), number, DotValue::WideResult);
    probed.push_back({number, {quantizationOf(op.getLhs()), quantizationOf(op.getRhs())}});
  }
  return probed;
}

void probeResults(mlir::ModuleOp module, llvm::function_ref<bool(std::size_t)> isWanted) {
  module.getContext()->getOrLoadDialect<interpreter::InterpreterDialect>();
  module.walk([&](stablehlo::DotGeneralOp op) {
    const auto number = numberOfDot(op);
    if (!number || !isWanted(*number))
      return;
    mlir::OpBuilder builder(op.getContext());
    builder.setInsertionPointAfter(op);
    probe(builder, op.getResult(), *number, DotValue::Unchanged);
  });
}

std::string dotProbeName(std::size_t number, DotValue value) {
  return (kPrefix + llvm::Twine(number) + "/" + llvm::Twine(static_cast<int>(value))).str();
}

std::optional<std::pair<std::size_t, DotValue>> probedValue(llvm::StringRef probe) {
  std::size_t number = 0;
  unsigned value = 0;
  if (!probe.consume_front(kPrefix) || probe.consumeInteger(10, number) ||
      !probe.consume_front("/") || probe.getAsInteger(10, value))
    return std::nullopt;
  return std::pair(number, static_cast<DotValue>(value));
}

} // namespace octavo::transforms
