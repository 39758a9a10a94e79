// How a constraint of the specification that does not hold is reported, and the traits of Base.td
// that check one. Every error names the constraint's number in the operation's section.
#pragma once

#include "octavo/Dialect/StableHLO/Types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace octavo::stablehlo {

/// Where types are inferred: nowhere where nobody asked for messages.
using Location = std::optional<mlir::Location>;

/// What types are inferred into.
using Types = llvm::SmallVectorImpl<mlir::Type>;

/// The type of a value that is a tensor.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Reports that `rule` of `Op` does not hold and fails; silent where there is no location.
template <typename Op, typename... Args>
llvm::LogicalResult violates(Location location, llvm::StringRef rule, Args&&... args) {
  return mlir::emitOptionalError(location, "'", Op::getOperationName(), "' op (", rule, ") ",
                                 std::forward<Args>(args)...);
}

/// Where the constraints of one operation are checked, while its types are inferred or verified:
/// reports like `violates`, for code that several operations share.
class Checker {
public:
  Checker(Location location, llvm::StringRef operation)
      : location(location), operation(operation) {}
  Checker(mlir::Operation* op) : Checker(op->getLoc(), op->getName().getStringRef()) {}

  template <typename... Args>
  llvm::LogicalResult violated(llvm::StringRef rule, Args&&... args) const {
    return mlir::emitOptionalError(location, "'", operation, "' op (", rule, ") ",
                                   std::forward<Args>(args)...);
  }

  /// Fails unless the indices are what the name says; `name` is that of the attribute.
  llvm::LogicalResult unique(llvm::StringRef rule, llvm::StringRef name,
                             llvm::ArrayRef<std::int64_t> indices) const;
  llvm::LogicalResult sorted(llvm::StringRef rule, llvm::StringRef name,
                             llvm::ArrayRef<std::int64_t> indices) const;
  /// In [0, bound), the axes of `whose`.
  llvm::LogicalResult inside(llvm::StringRef rule, llvm::StringRef name,
                             llvm::ArrayRef<std::int64_t> indices, std::int64_t bound,
                             llvm::StringRef whose) const;
  /// As many as the axes of `whose`.
  llvm::LogicalResult oneEach(llvm::StringRef rule, llvm::StringRef name,
                              llvm::ArrayRef<std::int64_t> indices, std::int64_t count,
                              llvm::StringRef whose) const;
  /// All above zero.
  llvm::LogicalResult positive(llvm::StringRef rule, llvm::StringRef name,
                               llvm::ArrayRef<std::int64_t> values) const;

private:
  Location location;
  llvm::StringRef operation;
};

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
llvm::LogicalResult inferSameType(mlir::ValueRange operands, Types& types);

/// Marks operations that compute each element of the result from those at the same place alone: on
/// tensors they do at every place what they do on scalars.
template <typename Concrete>
class Elementwise : public mlir::OpTrait::TraitBase<Concrete, Elementwise> {};

/// Quantized tensors have a scale for each index of their axis, and zero points that their storage
/// has: what the types themselves do not check.
llvm::LogicalResult verifyQuantization(mlir::Operation* op);

template <typename Concrete>
class FitQuantization : public mlir::OpTrait::TraitBase<Concrete, FitQuantization> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) { return verifyQuantization(op); }
};

template <typename Concrete> class SameType : public mlir::OpTrait::TraitBase<Concrete, SameType> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) {
    // Each with each: two types that fit the result need not fit one another.
    llvm::SmallVector<mlir::Type> types(op->getOperandTypes());
    types.push_back(op->getResult(0).getType());
    for (std::size_t i = 0; i < types.size(); ++i)
      for (std::size_t j = i + 1; j < types.size(); ++j)
        if (!haveOneBaseline(types[i], types[j]))
          return violates<Concrete>(op->getLoc(), Concrete::kResultRule,
                                    "operands and result must have one type; found ", types[i],
                                    " and ", types[j]);
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
      if (!(Concrete::kIsBaselineResult ? haveOneBaseline(inferred, found)
                                        : isCompatible(inferred, found)))
        return violates<Concrete>(op->getLoc(), Concrete::kResultRule, "the result must have type ",
                                  inferred, "; found ", found);
    return mlir::success();
  }
};

} // namespace octavo::stablehlo
