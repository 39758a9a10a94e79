// Recomputes in f64 the elements of a product for which f32 sums are not accurate enough:
// docs/semantics.md, D9.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductEpilogue.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <cstdint>
#include <span>

namespace octavo::kernels {

/// f32 sums are within the bound of Product.h if no operation between the operands' values and the
/// product overflows or loses bits to subnormal numbers. `redo` checks that on a finished block of
/// sums, for each element separately, so that an element does not depend on the others.
class DoubleProduct {
public:
  DoubleProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
                const OuterScales& outer);
  /// Recomputes the elements of `block` that need it. If there are any, also multiplies the whole
  /// block by the outer scales and returns true; otherwise leaves the block as it is.
  bool redo(const SumsBlock& block, const ProductEpilogue& epilogue) const;

private:
  struct Row;
  struct Panel;
  struct Redone;

  const ProductPlan& plan;
  const PackedOperand& left;
  const PackedOperand& right;
  const OuterScales& outer;
  bool isOfF32 = plan.left.scale == nullptr;
  /// The product of a left and a right factor may be outside [leastFactor, greatestFactor].
  bool hasFarFactors = false;
  float leastFactor, greatestFactor;
  bool looksAtSums = isOfF32;
  /// A sum of f32 rows may have lost bits if it is below `lost` times the largest magnitude of its
  /// column of values, or below `leastSum`.
  double lost = 0;
  float leastSum = 0;

  void redo(const SumsBlock& block, std::span<const Row> rows, ThreadVector<Redone>& redone) const;
  void readRowOrNan(std::int64_t row, double* to) const;
  bool hasTinyValue(std::int64_t row) const;
  bool hasOrdinaryFactors(std::int64_t row, std::int64_t column) const;
};

} // namespace octavo::kernels
