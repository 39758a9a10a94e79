// Reports violated constraints of the specification, and has the traits of Base.td that verify one.
// Every error names the number of the constraint in the operation's section of the specification.
#pragma once

#include "octavo/Dialect/StableHLO/Types.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Operation.h"

#include <optional>
#include <string>

namespace octavo::stablehlo {

/// The location for errors of type inference; nullopt if the caller wants no messages.
using Location = std::optional<mlir::Location>;

/// The output of type inference.
using Types = llvm::SmallVectorImpl<mlir::Type>;

/// The type of `value`, which must be a ranked tensor.
inline mlir::RankedTensorType tensorType(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Reports that `Op` violates `rule`, and fails. Without a location it fails silently.
template <typename Op, typename... Args>
llvm::LogicalResult violates(Location location, llvm::StringRef rule, Args&&... args) {
  return mlir::emitOptionalError(location, "'", Op::getOperationName(), "' op (", rule, ") ",
                                 std::forward<Args>(args)...);
}

/// Verifies constraints of one operation, in code that several operations share. Reports errors as
/// `violates` does, during type inference or verification.
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

  /// Fail unless `indices` are unique, or ascend. `name` is the attribute's name in errors.
  llvm::LogicalResult unique(llvm::StringRef rule, llvm::StringRef name,
                             llvm::ArrayRef<std::int64_t> indices) const;
  llvm::LogicalResult sorted(llvm::StringRef rule, llvm::StringRef name,
                             llvm::ArrayRef<std::int64_t> indices) const;
  /// Fails unless all `indices` are in [0, bound), the axes of `whose`.
  llvm::LogicalResult inside(llvm::StringRef rule, llvm::StringRef name,
                             llvm::ArrayRef<std::int64_t> indices, std::int64_t bound,
                             llvm::StringRef whose) const;
  /// Fails unless there are `count` indices, one for each axis of `whose`.
  llvm::LogicalResult oneEach(llvm::StringRef rule, llvm::StringRef name,
                              llvm::ArrayRef<std::int64_t> indices, std::int64_t count,
                              llvm::StringRef whose) const;
  /// Fails unless all `values` are positive.
  llvm::LogicalResult positive(llvm::StringRef rule, llvm::StringRef name,
                               llvm::ArrayRef<std::int64_t> values) const;

private:
  Location location;
  llvm::StringRef operation;
};

/// `[0, 1]`, for messages.
std::string spell(llvm::ArrayRef<std::int64_t> values);

/// A value that occurs twice; nullopt if there is none.
std::optional<std::int64_t> firstRepeated(llvm::ArrayRef<std::int64_t> values);

/// The first value outside [0, bound); nullopt if there is none.
std::optional<std::int64_t> firstOutside(llvm::ArrayRef<std::int64_t> values, std::int64_t bound);

/// The same shape with another element type.
mlir::RankedTensorType withElement(mlir::RankedTensorType type, mlir::Type element);

/// Infers the type of operands that must have one type: the most specific extents of all of them.
/// Fails silently if the types are incompatible; the trait SameType reports the error.
llvm::LogicalResult inferSameType(mlir::ValueRange operands, Types& types);

/// Marks operations that compute each element of the result only from the operands' elements at the
/// same index.
template <typename Concrete>
class Elementwise : public mlir::OpTrait::TraitBase<Concrete, Elementwise> {};

/// Verifies what the types themselves do not check: a per-axis quantized tensor has one scale for
/// each index of its axis, and its zero points are within the storage range.
llvm::LogicalResult verifyQuantization(mlir::Operation* op);

/// The trait that verifies with verifyQuantization.
template <typename Concrete>
class FitQuantization : public mlir::OpTrait::TraitBase<Concrete, FitQuantization> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) { return verifyQuantization(op); }
};

/// Verifies that operands and the result have one type but for extents, scales and zero points.
template <typename Concrete> class SameType : public mlir::OpTrait::TraitBase<Concrete, SameType> {
public:
  static llvm::LogicalResult verifyTrait(mlir::Operation* op) {
    // Compares each pair: two types that are compatible with the result may be incompatible with
    // each other.
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

/// Verifies that the results have the inferred types. If Concrete::kIsBaselineResult, scales and
/// zero points may differ.
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
