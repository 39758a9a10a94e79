// Scaled matrices that products take as codes and scales where they lie.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Program/Steps/Chain.h"
#include "octavo/Program/Steps/Products/OpenPlan.h"
#include "octavo/Program/Steps/Products/RowGroups.h"
#include "octavo/Program/Steps/Products/ScaledShape.h"

#include <array>
#include <optional>
#include <vector>

namespace octavo::program {

/// The slots of a scaled tensor's parts: elements one a byte, scales in containers of their format.
struct PartSlots {
  Slot elements, scales;
  std::optional<Slot> outer;

  float outerScale(const Worker& worker) const { return outer ? *worker.at<float>(*outer) : 1.0f; }
};

/// A scaled tensor whose parts lie in slots.
struct ScaledParts {
  PartSlots slots;
  ScaledShape shape;
};

/// A copy of it in a run of so many items, in the memory that `tensor` has.
void copyTensor(const Worker& worker, const ScaledParts& parts, std::int64_t items,
                numerics::ScaledTensor& tensor);

/// The grid of a matrix's blocks.
std::array<std::int64_t, 2> gridOf(const kernels::OperandFormat& format, std::int64_t rows,
                                   std::int64_t depth);
std::array<std::int64_t, 2> gridOf(const kernels::ScaledView& matrix);
/// A matrix [rows, depth] at the beginning of a scaled tensor.
kernels::ScaledView firstMatrix(const Worker& worker, const PartSlots& slots,
                                const kernels::OperandFormat& format, std::int64_t rows,
                                std::int64_t depth);
kernels::ScaledView firstMatrix(const numerics::ScaledTensor& tensor,
                                const kernels::OperandFormat& format, std::int64_t rows,
                                std::int64_t depth);

/// The rows that are packed and multiplied for those of a group. Sums of few rows may have another
/// order than those of many: all groups have that of all rows of the product together, of which a
/// range has many where there are many.
RowRange rowsForGroup(const kernels::ProductPlan& plan, const RowRange& ofGroup,
                      const RowRange& range);

/// The matrix of a product's side, or those of a batch of products, one after the other.
struct Matrices {
  BatchExtent count = 1;
  bool shareScales = false; ///< of scaled ones: all have the scales of the first

  bool isOne() const { return count == 1; }
  /// Those that a range is of: rows of one matrix, or whole ones of several.
  struct Range {
    std::int64_t first, count; ///< matrices
    std::int64_t begin, rows;  ///< of each
  };
  Range of(const Frame& frame, RowRange range, BatchExtent rows) const;
  /// Number `i`.
  kernels::ScaledView at(kernels::ScaledView first, std::int64_t i) const;
};

/// Packs the left operands of products, which lie in parts.
class PackPartsStep : public RowStep {
public:
  explicit PackPartsStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// `packed` is of Worker::packed. With groups, the matrices are theirs, and have the rows
  /// together.
  PackPartsStep(OperationTextPtr op, OpenPlan plan, PartSlots from, Matrices matrices,
                BatchExtent rows, std::optional<RowGroups> groups, int packed)
      : RowStep(std::move(op)), plan(std::move(plan)), from(from), matrices(matrices), rows(rows),
        groups(groups), packed(packed) {}
  Outcome compute(const Frame& frame, Worker& worker, RowRange range,
                  const kernels::Execution& execution) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::PackParts; }
  void fields(ProgramFields& fields) override;

private:
  OpenPlan plan;
  PartSlots from = {};
  Matrices matrices;
  BatchExtent rows;
  std::optional<RowGroups> groups;
  int packed = 0;
};

} // namespace octavo::program
