#include "octavo/Transforms/Recover/KnownScales.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace octavo::transforms {

static std::vector<double> scalesOfConstant(mlir::DenseElementsAttr constant) {
  std::vector<double> numbers;
  if (!llvm::isa<mlir::FloatType>(constant.getElementType()))
    return numbers;
  for (llvm::APFloat number : constant.getValues<llvm::APFloat>()) {
    bool losesInfo = false;
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    numbers.push_back(number.convertToDouble());
    if (constant.isSplat())
      break;
  }
  return numbers;
}

/// The values that the numbers of `value` are computed from.
static mlir::ValueRange sourcesOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (llvm::isa_and_nonnull<stablehlo::ConvertOp, stablehlo::ReshapeOp, stablehlo::BroadcastInDimOp,
                            stablehlo::MulOp, stablehlo::DivOp>(op))
    return op->getOperands();
  return {};
}

/// Iterative, with a list of pending values: operands are evaluated first.
llvm::ArrayRef<double> KnownScales::of(mlir::Value value) {
  llvm::SmallVector<mlir::Value> pending = {value};
  while (!pending.empty()) {
    const mlir::Value next = pending.back();
    if (known.contains(next)) {
      pending.pop_back();
      continue;
    }
    const std::size_t before = pending.size();
    for (mlir::Value source : sourcesOf(next))
      if (!known.contains(source))
        pending.push_back(source);
    if (pending.size() != before)
      continue;
    pending.pop_back();
    std::vector<double> numbers = computed(next);
    known.try_emplace(next, std::move(numbers));
  }
  return known.find(value)->second;
}

llvm::ArrayRef<double> KnownScales::operand(mlir::Operation* op, unsigned index) const {
  return known.find(op->getOperand(index))->second;
}

std::vector<double> KnownScales::computed(mlir::Value value) const {
  mlir::DenseElementsAttr constant;
  if (mlir::matchPattern(value, mlir::m_Constant(&constant)))
    return scalesOfConstant(constant);
  mlir::Operation* op = value.getDefiningOp();
  if (llvm::isa_and_nonnull<stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
    return operand(op, 0).vec();
  if (auto broadcast = llvm::dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
    const llvm::ArrayRef<double> numbers = operand(op, 0);
    const bool repeatsNothing =
        llvm::is_sorted(broadcast.getBroadcastDimensions()) &&
        elementCount(openShapeOf(value)) == elementCount(openShapeOf(broadcast.getOperand()));
    return numbers.size() == 1 || repeatsNothing ? numbers.vec() : std::vector<double>();
  }
  if (!llvm::isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op))
    return {};
  const llvm::ArrayRef<double> lhs = operand(op, 0), rhs = operand(op, 1);
  if (lhs.empty() || rhs.empty())
    return {};
  std::vector<double> results;
  for (std::size_t i = 0; i < std::max(lhs.size(), rhs.size()); ++i) {
    const double left = lhs[lhs.size() == 1 ? 0 : i], right = rhs[rhs.size() == 1 ? 0 : i];
    results.push_back(llvm::isa<stablehlo::MulOp>(op) ? left * right : left / right);
  }
  return results;
}

std::string beyondF32(llvm::ArrayRef<double> scales) {
  const auto isBeyond = [](double scale) {
    const auto held = static_cast<float>(scale);
    return std::isfinite(scale) && scale != 0 && !std::isnormal(held) &&
           static_cast<double>(held) != scale;
  };
  const auto* const first = llvm::find_if(scales, isBeyond);
  if (first == scales.end())
    return {};
  const auto held = static_cast<float>(*first);
  std::string note = held == 0 || std::isinf(held)
                         ? fmt::format("{:g} for a scale of {:g}, which is beyond f32",
                                       static_cast<double>(held), *first)
                         : fmt::format("a scale of {:g} rounded to a subnormal f32", *first);
  if (const auto others = llvm::count_if(scales, isBeyond) - 1; others > 0)
    note += fmt::format(", and {} scale{} like it", others, others == 1 ? "" : "s");
  return note;
}

} // namespace octavo::transforms
