#include "octavo/Transforms/Walks/Routers.h"

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Reduction.h"
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Movement.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <cstdint>

namespace octavo::transforms {

namespace {

using mlir::Value;

/// What a value downstream of the scores is.
enum class Kind : std::uint8_t {
  Score,
  Choice, ///< index of one of the E experts
  OneHot, ///< for each of the E experts, whether it is chosen
};

bool isFloat(Value value) {
  return llvm::isa<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType()));
}

bool isMatrix(llvm::ArrayRef<std::int64_t> extents) {
  return llvm::count_if(extents, [](std::int64_t extent) { return extent != 1; }) > 1;
}

bool isConstant(Value value) { return unmoved(value).getDefiningOp<stablehlo::ConstantOp>(); }

/// A choice is near the scores: at most this many values are followed. The bound matters for
/// programs in which other tensors have an axis of the same extent.
constexpr std::size_t kMostValues = 2000;

class Scores {
public:
  Scores(std::int64_t experts, llvm::function_ref<bool(Value)> isWeight,
         const ProgramCalls& program)
      : experts(experts), isWeight(isWeight), program(program) {}

  bool chooseExperts(Value scores) {
    add(scores, Kind::Score);
    while (!pending.empty()) {
      const Value value = pending.pop_back_val();
      for (mlir::OpOperand& use : value.getUses())
        look(use, kinds.lookup(value));
    }
    // The tensor that is selected from must not come from the scores, all of which are known now.
    return llvm::any_of(selected, [&](Value value) { return !isKnown(value); });
  }

private:
  void add(Value value, Kind kind) {
    // A value without the axis is not a score of each expert: the sums of a normalization, say.
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type || (kind == Kind::Score && !llvm::is_contained(type.getShape(), experts)))
      return;
    if (kinds.size() < kMostValues && kinds.insert({value, kind}).second)
      pending.push_back(value);
  }
  void addAll(mlir::ValueRange values, Kind kind) {
    for (Value value : values)
      add(value, kind);
  }

  bool isKnown(Value value) const {
    for (; value; value = movedFrom(value))
      if (kinds.contains(value))
        return true;
    return false;
  }

  void look(mlir::OpOperand& use, Kind kind) {
    mlir::Operation* op = use.getOwner();
    const unsigned number = use.getOperandNumber();
    if (mlir::func::FuncOp function = program.called(op)) {
      if (number < function.getNumArguments())
        add(function.getArgument(number), kind);
      return;
    }
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(op)) {
      add(loop.getBody().getArgument(number), kind);
      return add(loop->getResult(number), kind);
    }
    if (op->hasTrait<mlir::OpTrait::IsTerminator>())
      return leave(op, number, kind);
    if (kind == Kind::Score)
      return score(op, number);
    if (selects(op, number))
      return;
    if (isProduct(op)) {
      if (kind == Kind::OneHot)
        multiplies(op, number);
      return;
    }
    if (kind == Kind::OneHot && llvm::isa<stablehlo::MulOp>(op))
      multiplies(op, number);
    addAll(op->getResults(), isCompared(op, number) ? Kind::OneHot : kind);
  }

  /// Continues at the results of the region's operation or of the function's calls.
  void leave(mlir::Operation* end, unsigned number, Kind kind) {
    mlir::Operation* around = end->getParentOp();
    if (auto function = llvm::dyn_cast<mlir::func::FuncOp>(around)) {
      for (mlir::func::CallOp call : program.callsOf(function))
        add(call.getResult(number), kind);
      return;
    }
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around)) {
      if (number >= loop.getNumResults() || end->getParentRegion() != &loop.getBody())
        return;
      add(loop.getBody().getArgument(number), kind);
    }
    if (number < around->getNumResults() &&
        llvm::isa<stablehlo::WhileOp, stablehlo::IfOp, stablehlo::CaseOp>(around))
      add(around->getResult(number), kind);
  }

  static bool isProduct(mlir::Operation* op) {
    return llvm::isa<stablehlo::DotGeneralOp, stablehlo::DotOp, stablehlo::EinsumOp,
                     stablehlo::ConvolutionOp, chlo::RaggedDotOp>(op);
  }

  void score(mlir::Operation* op, unsigned number) {
    if (isProduct(op))
      return;
    const auto along = [&](Value value, std::int64_t axis) {
      return llvm::cast<mlir::RankedTensorType>(value.getType()).getShape()[axis] == experts;
    };
    const Value operand = op->getOperand(number);
    bool chooses = false;
    if (auto top = llvm::dyn_cast<chlo::TopKOp>(op)) {
      chooses = along(operand, llvm::cast<mlir::RankedTensorType>(operand.getType()).getRank() - 1);
    } else if (auto sort = llvm::dyn_cast<stablehlo::SortOp>(op)) {
      const std::int64_t rank = llvm::cast<mlir::RankedTensorType>(operand.getType()).getRank();
      const std::int64_t axis = sort.getDimension();
      chooses = rank > 0 && along(operand, axis < 0 ? axis + rank : axis);
    } else if (auto reduce = llvm::dyn_cast<stablehlo::ReduceOp>(op)) {
      if (number >= reduce.getInputs().size())
        return;
      chooses = llvm::any_of(reduce.getDimensions(),
                             [&](std::int64_t axis) { return along(operand, axis); });
    }
    const bool mayChoose = llvm::isa<chlo::TopKOp, stablehlo::SortOp, stablehlo::ReduceOp>(op);
    for (Value result : op->getResults())
      if (!mayChoose || isFloat(result))
        add(result, Kind::Score);
      else if (chooses)
        add(result, Kind::Choice);
  }

  /// Whether operand `number` of an operation is what it selects by; then records the tensor that
  /// it selects from.
  bool selects(mlir::Operation* op, unsigned number) {
    const auto from = [&](Value value, llvm::ArrayRef<std::int64_t> part) {
      if (isFloat(value) && (isMatrix(part) || !isWeight(value)))
        selected.push_back(value);
      return true;
    };
    if (auto gather = llvm::dyn_cast<stablehlo::GatherOp>(op); gather && number == 1)
      return from(gather.getOperand(), gather.getSliceSizes());
    if (auto slice = llvm::dyn_cast<stablehlo::DynamicSliceOp>(op); slice && number > 0)
      return from(slice.getOperand(), slice.getSliceSizes());
    if (auto scatter = llvm::dyn_cast<stablehlo::ScatterOp>(op);
        scatter && number == scatter.getInputs().size()) {
      for (Value update : scatter.getUpdates())
        if (isFloat(update) && !isConstant(update))
          selected.push_back(update);
      // Counts of choices are choices, too.
      addAll(op->getResults(), Kind::Choice);
      return true;
    }
    if (llvm::isa<chlo::RaggedDotOp>(op) && number == 2) {
      selected.push_back(op->getOperand(0));
      return true;
    }
    return false;
  }

  bool isCompared(mlir::Operation* op, unsigned number) {
    return llvm::isa<stablehlo::CompareOp>(op) &&
           unmoved(op->getOperand(1 - number)).getDefiningOp<stablehlo::IotaOp>();
  }

  void multiplies(mlir::Operation* op, unsigned number) {
    const Value other = op->getOperand(1 - number);
    if (!isFloat(other) || isConstant(other))
      return;
    if (!isWeight(other))
      return selected.push_back(other);
    auto dot = llvm::dyn_cast<stablehlo::DotGeneralOp>(op);
    if (!dot)
      return;
    llvm::SmallVector<std::int64_t> part(
        llvm::cast<mlir::RankedTensorType>(other.getType()).getShape());
    const auto numbers = dot.getDotDimensionNumbers();
    for (std::int64_t axis : number == 0 ? numbers.getRhsContractingDimensions()
                                         : numbers.getLhsContractingDimensions())
      part[static_cast<std::size_t>(axis)] = 1;
    if (isMatrix(part))
      selected.push_back(other);
  }

  std::int64_t experts;
  llvm::function_ref<bool(Value)> isWeight;
  const ProgramCalls& program;
  llvm::DenseMap<Value, Kind> kinds;
  llvm::SmallVector<Value> pending;
  llvm::SmallVector<Value> selected; ///< tensors selected from, or multiplied by a choice
};

} // namespace

bool isRouter(stablehlo::DotGeneralOp dot, unsigned weight,
              llvm::function_ref<bool(Value)> isWeight, const ProgramCalls& program) {
  const auto numbers = dot.getDotDimensionNumbers();
  const llvm::ArrayRef<std::int64_t> batching = weight == 0 ? numbers.getLhsBatchingDimensions()
                                                            : numbers.getRhsBatchingDimensions(),
                                     contracting = weight == 0
                                                       ? numbers.getLhsContractingDimensions()
                                                       : numbers.getRhsContractingDimensions();
  const auto type = llvm::cast<mlir::RankedTensorType>(dot->getOperand(weight).getType());
  std::int64_t experts = 1;
  for (const auto& [axis, extent] : llvm::enumerate(type.getShape()))
    if (!llvm::is_contained(batching, axis) && !llvm::is_contained(contracting, axis)) {
      if (mlir::ShapedType::isDynamic(extent))
        return false;
      experts *= extent;
    }
  return experts > 1 && Scores(experts, isWeight, program).chooseExperts(dot.getResult());
}

} // namespace octavo::transforms
