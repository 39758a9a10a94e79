// Where the sums of a product lie until they are whole, and what becomes of them then.
#pragma once

#include "octavo/Kernels/ElementPlans.h"
#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/Product/Epilogue.h"
#include "octavo/Kernels/Product/ProductKernels.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// A block of C under way, the work of one thread.
struct SumsBlock {
  std::int64_t rowBegin, rowEnd, columnBegin, columnEnd;
  float* sums; ///< of rowBegin and columnBegin
  std::ptrdiff_t stride;

  float* at(std::int64_t row, std::int64_t column) const {
    return sums + (row - rowBegin) * stride + (column - columnBegin);
  }
};

/// The outer scales of both sides of a product, 1 where there are none.
struct OuterScales {
  float left = 1.0f, right = 1.0f;
};

/// The epilogue of one product of a batch.
class ProductEpilogue {
public:
  /// `output` is [batch, rows, columns] in the epilogue's format; `amax` gathers the greatest bits.
  /// Rows are `columns` apart, of which blocks may leave the last ones out.
  ProductEpilogue(const Epilogue& epilogue, Isa isa, void* output, std::int64_t item,
                  std::int64_t rows, std::int64_t columns, OuterScales outer, SharedMaximum& amax);

  /// A block whose sums lie in C itself where nothing forbids that, else in memory of the thread.
  SumsBlock begin(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t columnBegin,
                  std::int64_t columnEnd) const;
  const OuterScales& outerScales() const { return outer; }
  /// Whether the magnitudes of `width` sums are finite and at least `least`.
  bool areWithin(const float* sums, std::int64_t width, float least) const {
    return kernels.areWithin(sums, width, least);
  }
  /// The outer scales times the sums of a block.
  void multiplyOuterScales(const SumsBlock& block) const;
  /// The steps on a block whose sums are whole, or, if `isScaled`, whole and multiplied by the
  /// outer scales; it is in a cache still.
  void finish(const SumsBlock& block, bool isScaled = false) const;

private:
  const Epilogue& epilogue;
  const EpilogueKernels& kernels;
  Isa isa;
  std::byte* output;
  const float* addend;
  const float* bias;
  const float* residual;
  std::int64_t columns;
  OuterScales outer;
  float factor; ///< their product
  SharedMaximum& amax;
  enum class Stored : std::uint8_t { F32, Bf16, F16, Narrow } stored;
  bool inPlace;
  bool isIdentity;
  ConvertPlan conversion{};
};

} // namespace octavo::kernels
