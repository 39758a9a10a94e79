// How a constraint of the specification that does not hold is reported, and the traits of Base.td
// that check one. Every error names the constraint's number in the operation's section.
#pragma once

#include "octavo/Dialect/StableHLO/Types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"

#include <optional>
#include <string>

namespace octavo::stablehlo {

/// Reports that `rule` of `Op` does not hold and fails; silent where there is no location.
template <typename Op, typename... Args>
llvm::LogicalResult violates(std::optional<mlir::Location> location, llvm::StringRef rule,
                             Args&&... args) {
  return mlir::emitOptionalError(location, "'", Op::getOperationName(), "' op (", rule, ") ",
                                 std::forward<Args>(args)...);
}

/// `[0, 1]`, for messages.
std::string spell(llvm::ArrayRef<std::int64_t> values);

/// The first value that occurs twice.
std::optional<std::int64_t> firstRepeated(llvm::ArrayRef<std::int64_t> values);

/// The first value that is not in [0, bound).
std::optional<std::int64_t> firstOutside(llvm::ArrayRef<std::int64_t> values, std::int64_t bound);

/// The same shape with another element type.
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

/// The type of operands that must all have one: what they say of it together. Fails, silently,
/// where they are not compatible; the trait SameType says what is wrong.
llvm::LogicalResult inferSameType(mlir::ValueRange operands,
                                  llvm::SmallVectorImpl<mlir::Type>& types);

template <typename Concrete> class SameType : public mlir::OpTrait::TraitBase<Concrete, SameType> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) {
    const mlir::Type type = op->getResult(0).getType();
    for (const mlir::Type operand : op->getOperandTypes())
      if (!isCompatible(operand, type))
        return violates<Concrete>(op->getLoc(), Concrete::kResultRule,
                                  "operands and result must have one type; found ", operand,
                                  " and ", type);
    return mlir::success();
  }
};

template <typename Concrete>
class InfersResults : public mlir::OpTrait::TraitBase<Concrete, InfersResults> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) {
    llvm::SmallVector<mlir::Type> types;
    auto concrete = llvm::cast<Concrete>(op);
    if (mlir::failed(Concrete::inferReturnTypes(op->getContext(), op->getLoc(),
                                                typename Concrete::Adaptor(concrete), types)))
      return mlir::failure();
    if (types.size() != op->getNumResults())
      return violates<Concrete>(op->getLoc(), Concrete::kResultRule, "there must be ", types.size(),
                                " results; found ", op->getNumResults());
    for (auto [inferred, found] : llvm::zip(types, op->getResultTypes()))
      if (!isCompatible(inferred, found))
        return violates<Concrete>(op->getLoc(), Concrete::kResultRule, "the result must have type ",
                                  inferred, "; found ", found);
    return mlir::success();
  }
};

} // namespace octavo::stablehlo
