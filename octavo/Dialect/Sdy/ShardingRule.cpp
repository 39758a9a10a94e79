// Verifies sharding rules: constraints (R1) to (R4) of OpShardingRule.
#include "octavo/Dialect/Sdy/ShardingRule.h"

#include "octavo/Dialect/Sdy/Sharding.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"

namespace octavo::sdy {

using llvm::LogicalResult;

using Factors = llvm::ArrayRef<std::int64_t>;

namespace {

class RuleChecker {
public:
  RuleChecker(mlir::Operation* op, OpShardingRuleAttr rule) : op(op), rule(rule) {}

  LogicalResult check() {
    if (failed(checkSide("operand", rule.getOperandMappings(), op->getOperandTypes())) ||
        failed(checkSide("result", rule.getResultMappings(), op->getResultTypes())))
      return mlir::failure();
    for (std::int64_t factor = 0; factor < count(); ++factor)
      if (!used.contains(factor))
        return violated("R3") << "has the factor " << factorName(factor) << " in no mapping";
    return checkKinds();
  }

private:
  std::int64_t count() const { return static_cast<std::int64_t>(rule.getFactorSizes().size()); }

  mlir::InFlightDiagnostic violated(llvm::StringRef constraint) {
    return op->emitOpError() << "(" << constraint << ") 'sdy.sharding_rule' ";
  }

  /// (R1) to (R3) for operands or results.
  LogicalResult checkSide(llvm::StringRef side, llvm::ArrayRef<TensorMappingAttr> mappings,
                          mlir::TypeRange types) {
    if (mappings.size() != types.size())
      return violated("R1") << "needs a mapping for each " << side << ", found " << mappings.size()
                            << " for " << types.size();
    for (auto [i, mapping, type] : llvm::enumerate(mappings, types)) {
      const TensorMappingAttr own = mapping;
      const auto extents = extentsOf(type);
      if (!extents || llvm::any_of(*extents, mlir::ShapedType::isDynamic))
        return violated("R1") << "needs tensors of known extents; " << side << " " << i << " is "
                              << type;
      if (own.getDimMappings().size() != extents->size())
        return violated("R1") << "has a mapping of rank " << own.getDimMappings().size() << " for "
                              << side << " " << i << " of rank " << extents->size();
      if (failed(checkMapping(side, i, own)))
        return mlir::failure();
    }
    return mlir::success();
  }

  LogicalResult checkMapping(llvm::StringRef side, std::size_t number, TensorMappingAttr mapping) {
    llvm::SmallSet<std::int64_t, 8> here;
    for (DimMappingAttr dimension : mapping.getDimMappings()) {
      const Factors factors = dimension.getFactorIndices();
      if (factors.empty())
        return violated("R2") << "has a dimension of " << side << " " << number
                              << " without a factor";
      for (const std::int64_t factor : factors) {
        if (factor >= count())
          return violated("R3") << "lacks the size of " << factorName(factor);
        if (!here.insert(factor).second)
          return violated("R2") << "has the factor " << factorName(factor) << " in two places of "
                                << side << " " << number;
        if (factors.size() > 1 && rule.getFactorSizes()[static_cast<std::size_t>(factor)] == 1)
          return violated("R2") << "has the factor " << factorName(factor)
                                << " of size 1 beside others in a dimension of " << side << " "
                                << number;
        used.insert(factor);
      }
    }
    return mlir::success();
  }

  /// (R4), and (R3) for the lists of factors of a kind.
  LogicalResult checkKinds() {
    llvm::SmallSet<std::int64_t, 8> special;
    const std::tuple<llvm::StringRef, Factors, bool> kinds[] = {
        {"reduction", rule.getReductionFactors(), true},
        {"need_replication", rule.getNeedReplicationFactors(), true},
        {"permutation", rule.getPermutationFactors(), true},
        {"blocked_propagation", rule.getBlockedPropagationFactors(), false}};
    for (const auto& [kind, factors, isAlone] : kinds) {
      for (auto [i, factor] : llvm::enumerate(factors)) {
        if (factor >= count())
          return violated("R3") << "lacks the size of " << factorName(factor);
        if (i > 0 && factors[i - 1] >= factor)
          return violated("R4") << "needs the factors of " << kind << " to ascend; found "
                                << factorName(factors[i - 1]) << " before " << factorName(factor);
        if (isAlone && !special.insert(factor).second)
          return violated("R4") << "has the factor " << factorName(factor)
                                << " in two of reduction, need_replication and permutation";
      }
    }
    for (TensorMappingAttr mapping : rule.getResultMappings())
      for (DimMappingAttr dimension : mapping.getDimMappings())
        for (const std::int64_t factor : dimension.getFactorIndices())
          if (llvm::is_contained(rule.getReductionFactors(), factor))
            return violated("R4") << "reduces the factor " << factorName(factor)
                                  << ", which a result has";
    return mlir::success();
  }

  mlir::Operation* op;
  OpShardingRuleAttr rule;
  llvm::SmallSet<std::int64_t, 8> used;
};

} // namespace

LogicalResult verifyShardingRule(mlir::Operation* op, OpShardingRuleAttr rule) {
  return RuleChecker(op, rule).check();
}

} // namespace octavo::sdy
