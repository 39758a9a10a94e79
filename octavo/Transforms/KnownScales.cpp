#include "octavo/Transforms/KnownScales.h"

#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/TensorFacts.h"

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

namespace {

/// Looks at each value once: a factor may be both sides of a product.
class KnownScales {
public:
  std::vector<double> of(mlir::Value value) {
    if (const auto found = known.find(value); found != known.end())
      return found->second;
    std::vector<double> numbers = computed(value);
    return known.try_emplace(value, std::move(numbers)).first->second;
  }

private:
  std::vector<double> computed(mlir::Value value) {
    mlir::DenseElementsAttr constant;
    if (mlir::matchPattern(value, mlir::m_Constant(&constant)))
      return scalesOfConstant(constant);
    mlir::Operation* op = value.getDefiningOp();
    if (llvm::isa_and_nonnull<stablehlo::ConvertOp, stablehlo::ReshapeOp>(op))
      return of(op->getOperand(0));
    if (auto broadcast = llvm::dyn_cast_or_null<stablehlo::BroadcastInDimOp>(op)) {
      std::vector<double> numbers = of(broadcast.getOperand());
      const bool repeatsNothing =
          llvm::is_sorted(broadcast.getBroadcastDimensions()) &&
          elementCount(openShapeOf(value)) == elementCount(openShapeOf(broadcast.getOperand()));
      return numbers.size() == 1 || repeatsNothing ? numbers : std::vector<double>();
    }
    if (!llvm::isa_and_nonnull<stablehlo::MulOp, stablehlo::DivOp>(op))
      return {};
    const std::vector<double> lhs = of(op->getOperand(0)), rhs = of(op->getOperand(1));
    if (lhs.empty() || rhs.empty())
      return {};
    std::vector<double> results;
    for (std::size_t i = 0; i < std::max(lhs.size(), rhs.size()); ++i) {
      const double left = lhs[lhs.size() == 1 ? 0 : i], right = rhs[rhs.size() == 1 ? 0 : i];
      results.push_back(llvm::isa<stablehlo::MulOp>(op) ? left * right : left / right);
    }
    return results;
  }

  llvm::DenseMap<mlir::Value, std::vector<double>> known;
};

} // namespace

std::vector<double> knownScales(mlir::Value value) { return KnownScales().of(value); }

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
