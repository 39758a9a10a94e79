// chlo.scan: a loop that slices its inputs and writes slices of its outputs.
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Transforms/Legalize/CHLO/Operations.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/IRMapping.h"

namespace octavo::transforms {

using mlir::RankedTensorType;

namespace {

class Scan {
public:
  Scan(mlir::OpBuilder& builder, chlo::ScanOp op)
      : b(builder), op(op), at(op.getLoc()), axis(static_cast<std::int64_t>(op.getDimension())),
        steps(op.getInputs().empty() ? static_cast<std::int64_t>(*op.getScanDimSize())
                                     : typeOf(op.getInputs().front()).getDimSize(axis)) {}

  Replacements results();

private:
  static RankedTensorType typeOf(mlir::Value tensor) {
    return llvm::cast<RankedTensorType>(tensor.getType());
  }
  mlir::Value number(std::int64_t value) {
    const auto type = RankedTensorType::get({}, b.getI64Type());
    return stablehlo::ConstantOp::create(b, at, mlir::DenseElementsAttr::get(type, value));
  }
  /// Start indices of the slice at `index` of a tensor with `rank` axes.
  llvm::SmallVector<mlir::Value> starts(std::int64_t rank, mlir::Value zero, mlir::Value index) {
    llvm::SmallVector<mlir::Value> list(static_cast<std::size_t>(rank), zero);
    list[static_cast<std::size_t>(axis)] = index;
    return list;
  }
  mlir::Value sliceOf(mlir::Value tensor, RankedTensorType slice, mlir::Value zero,
                      mlir::Value index);
  mlir::Value withSlice(mlir::Value tensor, mlir::Value slice, mlir::Value zero, mlir::Value index);
  void writeCondition(mlir::Region& region, mlir::TypeRange types);
  void writeBody(mlir::Region& region, mlir::TypeRange types);

  mlir::OpBuilder& b;
  chlo::ScanOp op;
  mlir::Location at;
  std::int64_t axis, steps;
};

llvm::SmallVector<std::int64_t> thickened(RankedTensorType slice, std::int64_t axis) {
  llvm::SmallVector<std::int64_t> shape(slice.getShape());
  shape.insert(shape.begin() + axis, 1);
  return shape;
}

mlir::Value Scan::sliceOf(mlir::Value tensor, RankedTensorType slice, mlir::Value zero,
                          mlir::Value index) {
  const llvm::SmallVector<std::int64_t> shape = thickened(slice, axis);
  const mlir::Value thick = stablehlo::DynamicSliceOp::create(
      b, at, slice.clone(shape), tensor, starts(typeOf(tensor).getRank(), zero, index),
      b.getDenseI64ArrayAttr(shape));
  return stablehlo::ReshapeOp::create(b, at, slice, thick);
}

mlir::Value Scan::withSlice(mlir::Value tensor, mlir::Value slice, mlir::Value zero,
                            mlir::Value index) {
  const RankedTensorType type = typeOf(slice);
  const mlir::Value thick =
      stablehlo::ReshapeOp::create(b, at, type.clone(thickened(type, axis)), slice);
  return stablehlo::DynamicUpdateSliceOp::create(b, at, tensor.getType(), tensor, thick,
                                                 starts(typeOf(tensor).getRank(), zero, index));
}

void Scan::writeCondition(mlir::Region& region, mlir::TypeRange types) {
  const mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Block* block =
      b.createBlock(&region, {}, types, llvm::SmallVector<mlir::Location>(types.size(), at));
  const mlir::Value isMore = stablehlo::CompareOp::create(
      b, at, RankedTensorType::get({}, b.getI1Type()), block->getArgument(0), number(steps),
      stablehlo::ComparisonDirectionAttr::get(b.getContext(), stablehlo::ComparisonDirection::LT),
      stablehlo::ComparisonTypeAttr::get(b.getContext(), stablehlo::ComparisonType::SIGNED));
  stablehlo::ReturnOp::create(b, at, isMore);
}

void Scan::writeBody(mlir::Region& region, mlir::TypeRange types) {
  const mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Block* block =
      b.createBlock(&region, {}, types, llvm::SmallVector<mlir::Location>(types.size(), at));
  const unsigned inputs = op.getInputs().size(), carries = op.getInits().size(),
                 outputs = op.getOutputs().size();
  // Arguments: iteration, inputs (unchanged), carries, outputs.
  const mlir::Value turn = block->getArgument(0), zero = number(0);
  const mlir::Value index =
      op.getIsReverse() ? stablehlo::SubtractOp::create(b, at, number(steps - 1), turn).getResult()
                        : turn;
  mlir::Block& step = op.getBody().front();
  mlir::IRMapping given;
  for (unsigned i = 0; i < inputs; ++i)
    given.map(step.getArgument(i),
              sliceOf(block->getArgument(1 + i), typeOf(step.getArgument(i)), zero, index));
  for (unsigned i = 0; i < carries; ++i)
    given.map(step.getArgument(inputs + i), block->getArgument(1 + inputs + i));
  for (mlir::Operation& inner : step.without_terminator())
    b.clone(inner, given);
  llvm::SmallVector<mlir::Value> next{stablehlo::AddOp::create(b, at, turn, number(1))};
  for (unsigned i = 0; i < inputs; ++i)
    next.push_back(block->getArgument(1 + i));
  const auto returned = step.getTerminator()->getOperands();
  for (unsigned i = 0; i < carries; ++i)
    next.push_back(given.lookup(returned[outputs + i]));
  for (unsigned i = 0; i < outputs; ++i)
    next.push_back(withSlice(block->getArgument(1 + inputs + carries + i),
                             given.lookup(returned[i]), zero, index));
  stablehlo::ReturnOp::create(b, at, next);
}

Replacements Scan::results() {
  llvm::SmallVector<mlir::Value> given{number(0)};
  llvm::append_range(given, op.getInputs());
  llvm::append_range(given, op.getInits());
  for (mlir::Value output : op.getOutputs())
    given.push_back(zeros(b, at, typeOf(output)));
  Replacements results;
  const unsigned carries = op.getInits().size(), before = 1 + op.getInputs().size();
  mlir::ValueRange last = given;
  if (steps > 0) {
    const auto types = mlir::ValueRange(given).getTypes();
    auto loop = stablehlo::WhileOp::create(b, at, types, given);
    writeCondition(loop.getCond(), types);
    writeBody(loop.getBody(), types);
    last = loop.getResults();
  }
  llvm::append_range(results, last.drop_front(before + carries));
  llvm::append_range(results, last.slice(before, carries));
  return results;
}

} // namespace

Replacements legalizeScan(mlir::OpBuilder& builder, mlir::Operation* op) {
  return Scan(builder, llvm::cast<chlo::ScanOp>(op)).results();
}

} // namespace octavo::transforms
