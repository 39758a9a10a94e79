// The elements of a product that sums of f32 miss, formed anew in f64: docs/semantics.md, D9.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductEpilogue.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <cstdint>
#include <span>

namespace octavo::kernels {

/// Sums of f32 are as near as Product.h says where no operation between the operands' values and
/// the product overflows or loses bits to subnormal numbers. Whether one may have is looked at when
/// a block of sums is there, each element for itself: what it is does not depend on others.
class DoubleProduct {
public:
  DoubleProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
                const OuterScales& outer);
  /// PackedForms the elements of a block that need it anew. If there are any, all of them are
  /// multiplied by the outer scales, and the result is true.
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
  /// Factors of both sides whose products are beyond [leastFactor, greatestFactor].
  bool hasFarFactors = false;
  float leastFactor, greatestFactor;
  bool looksAtSums = isOfF32;
  /// A sum of f32 rows may have lost bits below this times the greatest of its column's values, and
  /// below leastSum whatever that is.
  double lost = 0;
  float leastSum = 0;

  void redo(const SumsBlock& block, std::span<const Row> rows, ThreadVector<Redone>& redone) const;
  void readRowOrNan(std::int64_t row, double* to) const;
  bool hasTinyValue(std::int64_t row) const;
  bool hasOrdinaryFactors(std::int64_t row, std::int64_t column) const;
};

} // namespace octavo::kernels
