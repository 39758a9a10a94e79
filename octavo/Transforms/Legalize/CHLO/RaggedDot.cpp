// chlo.ragged_dot: one dot for each group, in which only the group's rows (or indices of the sum)
// take part; and octavo.rows_of_groups.
#include "octavo/Transforms/Legalize/CHLO/RowsOfGroups.h"

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Dialect/StableHLO/DataMovement.h"
#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Legalize/CHLO/Operations.h"
#include "octavo/Transforms/Legalize/CHLO/Term.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

using mlir::RankedTensorType;
using Axes = llvm::SmallVector<std::int64_t>;
using Mode = chlo::RaggedDotOp::Mode;

namespace {

RankedTensorType tensorTypeOf(mlir::Value tensor) {
  return llvm::cast<RankedTensorType>(tensor.getType());
}

/// Groups along an axis, and the operations on them.
class Groups {
public:
  Groups(mlir::OpBuilder& builder, mlir::Location at) : b(builder), at(at) {}

protected:
  /// The range of a group on the ragged axis, i64: one for all, or one for each index of the prefix
  /// axes.
  struct Run {
    mlir::Value start, end;
  };

  mlir::Value constant(RankedTensorType type, std::int64_t value);
  mlir::Value part(mlir::Value tensor, std::int64_t axis, std::int64_t index);
  void findGroups(mlir::Value sizes, std::int64_t extent);
  mlir::Value membership(const Run& run, llvm::ArrayRef<std::int64_t> shape,
                         llvm::ArrayRef<std::int64_t> prefixAxes, std::int64_t axis);

  mlir::OpBuilder& b;
  mlir::Location at;
  llvm::SmallVector<Run> runs; ///< one for each group
};

class RaggedDot : public Groups {
public:
  RaggedDot(mlir::OpBuilder& builder, chlo::RaggedDotOp op)
      : Groups(builder, op.getLoc()), op(op), numbers(op.getRaggedDotDimensionNumbers()),
        ragged(numbers.getLhsRaggedDimensions().front()), prefix(op.prefixAxes()) {
    if (op.mode() != Mode::Batching)
      findGroups(op.getGroupSizes(), op.getLhs().getType().getDimSize(ragged));
  }

  mlir::Value result() {
    switch (op.mode()) {
    case Mode::Free:
      return free();
    case Mode::Contracting:
      return contracting();
    case Mode::Batching:
      return dot(op.getLhs(), op.getRhs(), op.getType(), numbers.getRhsBatchingDimensions(),
                 numbers.getRhsContractingDimensions());
    }
    llvm_unreachable("a mode that is none");
  }

private:
  mlir::Value masked(const Run& run, mlir::Value tensor, llvm::ArrayRef<std::int64_t> prefixAxes,
                     std::int64_t axis);
  mlir::Value dot(mlir::Value lhs, mlir::Value rhs, RankedTensorType type,
                  llvm::ArrayRef<std::int64_t> rhsBatching,
                  llvm::ArrayRef<std::int64_t> rhsContracting);
  mlir::Value free();
  mlir::Value contracting();
  std::int64_t counterpart(std::int64_t axis) const;

  chlo::RaggedDotOp op;
  chlo::RaggedDotDimensionNumbersAttr numbers;
  std::int64_t ragged;
  Axes prefix;
};

class RowsOfGroups : public Groups {
public:
  using Groups::Groups;
  mlir::Value of(ir::RowsOfGroupsOp rows) {
    const RankedTensorType type = rows.getType();
    findGroups(rows.getGroupSizes(), type.getDimSize(0));
    mlir::Value result = zeros(b, at, type);
    for (const auto& [j, run] : llvm::enumerate(runs))
      result =
          stablehlo::SelectOp::create(b, at, type, membership(run, type.getShape(), {}, 0),
                                      part(rows.getAll(), 1, static_cast<std::int64_t>(j)), result);
    return result;
  }
};

mlir::Value Groups::constant(RankedTensorType type, std::int64_t value) {
  return stablehlo::ConstantOp::create(
      b, at,
      mlir::DenseElementsAttr::get(type,
                                   mlir::APInt(type.getElementType().getIntOrFloatBitWidth(),
                                               static_cast<std::uint64_t>(value), true, true)));
}

mlir::Value Groups::part(mlir::Value tensor, std::int64_t axis, std::int64_t index) {
  const RankedTensorType type = tensorTypeOf(tensor);
  Axes start(static_cast<std::size_t>(type.getRank()), 0), limit(type.getShape());
  const Axes strides(start.size(), 1);
  start[static_cast<std::size_t>(axis)] = index;
  limit[static_cast<std::size_t>(axis)] = index + 1;
  Axes thin(type.getShape());
  thin[static_cast<std::size_t>(axis)] = 1;
  mlir::Value slice =
      stablehlo::SliceOp::create(b, at, type.clone(thin), tensor, b.getDenseI64ArrayAttr(start),
                                 b.getDenseI64ArrayAttr(limit), b.getDenseI64ArrayAttr(strides));
  thin.erase(thin.begin() + axis);
  return stablehlo::ReshapeOp::create(b, at, type.clone(thin), slice);
}

/// Each range begins where the previous one ends, and ends within the axis. Negative sizes count as
/// 0; octavo's operation itself refuses them at run time.
void Groups::findGroups(mlir::Value sizes, std::int64_t extent) {
  const auto integer = llvm::cast<mlir::IntegerType>(tensorTypeOf(sizes).getElementType());
  // Sizes beyond i64 are clamped before the conversion.
  if (integer.isUnsignedInteger() && integer.getWidth() == 64)
    sizes = stablehlo::MinOp::create(b, at, sizes, constant(tensorTypeOf(sizes), extent));
  const RankedTensorType wide = withElement(tensorTypeOf(sizes), b.getI64Type());
  if (integer != b.getI64Type())
    sizes = stablehlo::ConvertOp::create(b, at, wide, sizes);
  sizes = stablehlo::MaxOp::create(b, at, sizes, constant(wide, 0));
  const std::int64_t groupAxis = wide.getRank() - 1;
  const RankedTensorType places = wide.clone(wide.getShape().drop_back());
  const mlir::Value whole = constant(places, extent);
  mlir::Value end = constant(places, 0);
  for (std::int64_t j = 0; j < wide.getDimSize(groupAxis); ++j) {
    const mlir::Value start = end;
    const mlir::Value left = stablehlo::SubtractOp::create(b, at, whole, start);
    end = stablehlo::AddOp::create(
        b, at, start, stablehlo::MinOp::create(b, at, part(sizes, groupAxis, j), left));
    runs.push_back({start, end});
  }
}

/// A predicate of `shape`: whether the index along `axis` is in the run.
mlir::Value Groups::membership(const Run& run, llvm::ArrayRef<std::int64_t> shape,
                               llvm::ArrayRef<std::int64_t> prefixAxes, std::int64_t axis) {
  const auto type = RankedTensorType::get(shape, b.getI64Type());
  const RankedTensorType predicate = withElement(type, b.getI1Type());
  const auto axes =
      tensorTypeOf(run.start).getRank() == 0 ? llvm::ArrayRef<std::int64_t>() : prefixAxes;
  const mlir::Value place = stablehlo::IotaOp::create(b, at, type, b.getI64IntegerAttr(axis));
  const auto compare = [&](mlir::Value bound, stablehlo::ComparisonDirection direction) {
    const mlir::Value wide =
        stablehlo::BroadcastInDimOp::create(b, at, type, bound, b.getDenseI64ArrayAttr(axes));
    return stablehlo::CompareOp::create(
        b, at, predicate, place, wide,
        stablehlo::ComparisonDirectionAttr::get(b.getContext(), direction),
        stablehlo::ComparisonTypeAttr::get(b.getContext(), stablehlo::ComparisonType::SIGNED));
  };
  return stablehlo::AndOp::create(b, at, compare(run.start, stablehlo::ComparisonDirection::GE),
                                  compare(run.end, stablehlo::ComparisonDirection::LT));
}

/// `tensor` with 0 outside the run. A select, since elements may be infinite.
mlir::Value RaggedDot::masked(const Run& run, mlir::Value tensor,
                              llvm::ArrayRef<std::int64_t> prefixAxes, std::int64_t axis) {
  const RankedTensorType type = tensorTypeOf(tensor);
  return stablehlo::SelectOp::create(
      b, at, type, membership(run, type.getShape(), prefixAxes, axis), tensor, zeros(b, at, type));
}

mlir::Value RaggedDot::dot(mlir::Value lhs, mlir::Value rhs, RankedTensorType type,
                           llvm::ArrayRef<std::int64_t> rhsBatching,
                           llvm::ArrayRef<std::int64_t> rhsContracting) {
  const auto dimensions = stablehlo::DotDimensionNumbersAttr::get(
      b.getContext(), numbers.getLhsBatchingDimensions(), rhsBatching,
      numbers.getLhsContractingDimensions(), rhsContracting);
  mlir::ArrayAttr precision;
  if (const auto given = op.getPrecisionConfig()) {
    llvm::SmallVector<mlir::Attribute> list;
    for (const mlir::Attribute each : *given)
      list.push_back(stablehlo::PrecisionAttr::get(
          b.getContext(),
          static_cast<stablehlo::Precision>(llvm::cast<chlo::PrecisionAttr>(each).getValue())));
    precision = b.getArrayAttr(list);
  }
  return stablehlo::DotGeneralOp::create(b, at, type, lhs, rhs, dimensions, precision,
                                         stablehlo::DotAlgorithmAttr());
}

/// The axis of rhs that is paired with a batching or contracting axis of lhs.
std::int64_t RaggedDot::counterpart(std::int64_t axis) const {
  for (const auto& [left, right] :
       {std::pair(numbers.getLhsBatchingDimensions(), numbers.getRhsBatchingDimensions()),
        std::pair(numbers.getLhsContractingDimensions(), numbers.getRhsContractingDimensions())})
    for (const auto& [of, with] : llvm::zip(left, right))
      if (of == axis)
        return with;
  llvm_unreachable("an axis that is free");
}

/// Multiplies all rows with each group's part of rhs and selects, for each row, its own group's
/// result; rows of no group are 0.
mlir::Value RaggedDot::free() {
  const std::int64_t groupAxis = numbers.getRhsGroupDimensions().front();
  const auto withoutGroup = [&](llvm::ArrayRef<std::int64_t> axes) {
    return llvm::map_to_vector(
        axes, [&](std::int64_t axis) { return axis - (axis > groupAxis ? 1 : 0); });
  };
  const auto batching = withoutGroup(numbers.getRhsBatchingDimensions());
  const auto contracting = withoutGroup(numbers.getRhsContractingDimensions());
  // The result's axes begin with the prefix axes, then the ragged axis.
  const Axes leading = llvm::to_vector(llvm::seq<std::int64_t>(0, prefix.size()));
  const RankedTensorType type = op.getType();
  mlir::Value result = zeros(b, at, type);
  for (const auto& [j, run] : llvm::enumerate(runs)) {
    const mlir::Value weights = part(op.getRhs(), groupAxis, static_cast<std::int64_t>(j));
    const mlir::Value product = dot(op.getLhs(), weights, type, batching, contracting);
    const mlir::Value isOwn =
        membership(run, type.getShape(), leading, static_cast<std::int64_t>(leading.size()));
    result = stablehlo::SelectOp::create(b, at, type, isOwn, product, result);
  }
  return result;
}

/// One dot for each group's indices, stacked along a new first axis.
mlir::Value RaggedDot::contracting() {
  const RankedTensorType type = op.getType();
  if (runs.empty())
    return zeros(b, at, type);
  Axes thick(type.getShape());
  thick.front() = 1;
  const Axes rhsPrefix =
      llvm::map_to_vector(prefix, [&](std::int64_t axis) { return counterpart(axis); });
  llvm::SmallVector<mlir::Value> products;
  for (const Run& run : runs) {
    const mlir::Value product =
        dot(masked(run, op.getLhs(), prefix, ragged),
            masked(run, op.getRhs(), rhsPrefix, counterpart(ragged)),
            type.clone(type.getShape().drop_front()), numbers.getRhsBatchingDimensions(),
            numbers.getRhsContractingDimensions());
    products.push_back(stablehlo::ReshapeOp::create(b, at, type.clone(thick), product));
  }
  return stablehlo::ConcatenateOp::create(b, at, type, products, b.getI64IntegerAttr(0));
}

} // namespace

mlir::Value emitRowsOfGroups(mlir::OpBuilder& builder, ir::RowsOfGroupsOp rows) {
  return RowsOfGroups(builder, rows.getLoc()).of(rows);
}

Replacements legalizeRaggedDot(mlir::OpBuilder& builder, mlir::Operation* op) {
  return {RaggedDot(builder, llvm::cast<chlo::RaggedDotOp>(op)).result()};
}

} // namespace octavo::transforms
