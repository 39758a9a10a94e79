// Scaled matrices that products read as codes and scales in place.
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

/// The slots of a scaled tensor's parts: one element per byte, scales in containers of their
/// format.
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

/// Copies the parts into `tensor`, at batch size `items`, and reuses its memory.
void copyTensor(const Worker& worker, const ScaledParts& parts, std::int64_t items,
                numerics::ScaledTensor& tensor);

/// The grid of a matrix's blocks: blocks across the rows, and along the depth.
std::array<std::int64_t, 2> gridOf(const kernels::OperandFormat& format, std::int64_t rows,
                                   std::int64_t depth);
std::array<std::int64_t, 2> gridOf(const kernels::ScaledView& matrix);
/// A view of the first matrix [rows, depth] of a scaled tensor.
kernels::ScaledView firstMatrix(const Worker& worker, const PartSlots& slots,
                                const kernels::OperandFormat& format, std::int64_t rows,
                                std::int64_t depth);
kernels::ScaledView firstMatrix(const numerics::ScaledTensor& tensor,
                                const kernels::OperandFormat& format, std::int64_t rows,
                                std::int64_t depth);

/// The rows to pack and multiply for the rows of a group. Sums over few rows may use another order
/// than sums over many. All groups use the order of the whole product, so a small group is extended
/// by neighbouring rows of the range.
RowRange rowsForGroup(const kernels::ProductPlan& plan, const RowRange& ofGroup,
                      const RowRange& range);

/// The matrix of one operand, or the consecutive matrices of a batch of products.
struct Matrices {
  BatchExtent count = 1;
  bool shareScales = false; ///< all scaled matrices share the scales of the first

  bool isOne() const { return count == 1; }
  /// The part in a range: rows of the single matrix, or whole matrices of a batch.
  struct Range {
    std::int64_t first, count; ///< index of the first matrix, and count
    std::int64_t begin, rows;  ///< rows of each matrix
  };
  Range of(const Frame& frame, RowRange range, BatchExtent rows) const;
  /// The view of matrix `i`.
  kernels::ScaledView at(kernels::ScaledView first, std::int64_t i) const;
};

/// Packs left operands of products that are given as parts in slots.
class PackPartsStep : public RowStep {
public:
  explicit PackPartsStep(OperationTextPtr op) : RowStep(std::move(op)) {}
  /// `packed` is an index of Worker::packed. With groups there is one matrix per group, and `rows`
  /// counts the rows of all groups together.
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
