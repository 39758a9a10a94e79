#include "octavo/Dialect/StableHLO/ComparatorKeys.h"

#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"

#include "llvm/ADT/STLExtras.h"

namespace octavo::stablehlo {

namespace {

/// Whether `left` is the same function of the left elements as `right` of the right ones: the same
/// operations, on arguments 2k and 2k + 1.
bool mirrors(const mlir::Block& comparator, mlir::Value left, mlir::Value right) {
  if (const auto a = llvm::dyn_cast<mlir::BlockArgument>(left)) {
    const auto b = llvm::dyn_cast<mlir::BlockArgument>(right);
    return b && a.getOwner() == &comparator && b.getOwner() == &comparator &&
           a.getArgNumber() % 2 == 0 && b.getArgNumber() == a.getArgNumber() + 1;
  }
  mlir::Operation* a = left.getDefiningOp();
  mlir::Operation* b = right.getDefiningOp();
  if (b == nullptr || a->getName() != b->getName() ||
      a->getDiscardableAttrDictionary() != b->getDiscardableAttrDictionary() ||
      a->getPropertiesAsAttribute() != b->getPropertiesAsAttribute() ||
      a->getResultTypes() != b->getResultTypes() || a->getNumOperands() != b->getNumOperands())
    return false;
  if (a->hasTrait<mlir::OpTrait::ConstantLike>())
    return true;
  return (a->hasTrait<Elementwise>() || a->hasTrait<mlir::OpTrait::Elementwise>()) &&
         a->getNumRegions() == 0 &&
         llvm::all_of_zip(a->getOperands(), b->getOperands(),
                          [&](mlir::Value x, mlir::Value y) { return mirrors(comparator, x, y); });
}

bool isTotal(CompareOp compare) { return compare.getCompareType() == ComparisonType::TOTALORDER; }

/// Appends the comparisons of `value`, most significant first; false if `value` is of another form.
bool findKeys(const mlir::Block& comparator, mlir::Value value, std::vector<ComparatorKey>& keys) {
  if (auto compare = value.getDefiningOp<CompareOp>()) {
    const ComparisonDirection direction = compare.getComparisonDirection();
    if ((direction != ComparisonDirection::LT && direction != ComparisonDirection::GT) ||
        !mirrors(comparator, compare.getLhs(), compare.getRhs()))
      return false;
    keys.push_back({compare.getLhs(), direction == ComparisonDirection::GT, isTotal(compare)});
    return true;
  }
  auto either = value.getDefiningOp<OrOp>();
  if (!either || !findKeys(comparator, either.getLhs(), keys))
    return false;
  auto both = either.getRhs().getDefiningOp<AndOp>();
  auto equal = both ? both.getLhs().getDefiningOp<CompareOp>() : CompareOp();
  return equal && equal.getComparisonDirection() == ComparisonDirection::EQ &&
         equal.getLhs() == keys.back().left && isTotal(equal) == keys.back().isTotalOrder &&
         mirrors(comparator, equal.getLhs(), equal.getRhs()) &&
         findKeys(comparator, both.getRhs(), keys);
}
} // namespace

std::optional<std::vector<ComparatorKey>> comparatorKeys(mlir::Region& comparator) {
  mlir::Block& block = comparator.front();
  std::vector<ComparatorKey> keys;
  if (!findKeys(block, block.getTerminator()->getOperand(0), keys))
    return std::nullopt;
  return keys;
}

} // namespace octavo::stablehlo
