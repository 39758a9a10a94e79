// The memory of a product's sums while they are computed, and the epilogue on finished sums.
#pragma once

#include "octavo/Kernels/ElementPlans.h"
#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/Product/Epilogue.h"
#include "octavo/Kernels/Product/ProductKernels.h"

#include <cstddef>
#include <cstdint>

namespace octavo::kernels {

/// A block of C that one thread computes.
struct SumsBlock {
  std::int64_t rowBegin, rowEnd, columnBegin, columnEnd;
  float* sums;           ///< the sum of row rowBegin and column columnBegin
  std::ptrdiff_t stride; ///< floats between rows

  float* at(std::int64_t row, std::int64_t column) const {
    return sums + (row - rowBegin) * stride + (column - columnBegin);
  }
};

/// The outer scales of both sides of a product; 1 if a side has none.
struct OuterScales {
  float left = 1.0f, right = 1.0f;
};

/// The epilogue of one product of a batch.
class ProductEpilogue {
public:
  /// The epilogue of product number `item` of the batch. `output` is [batch, rows, columns] in the
  /// epilogue's format. `amax` collects the bits of the largest magnitude. Rows are `columns`
  /// apart; blocks need not cover the last columns.
  ProductEpilogue(const Epilogue& epilogue, Isa isa, void* output, std::int64_t item,
                  std::int64_t rows, std::int64_t columns, OuterScales outer, SharedMaximum& amax);

  /// A block whose sums lie in C itself if possible, else in the thread's memory.
  SumsBlock begin(std::int64_t rowBegin, std::int64_t rowEnd, std::int64_t columnBegin,
                  std::int64_t columnEnd) const;
  const OuterScales& outerScales() const { return outer; }
  /// Whether the magnitudes of `width` sums are finite and at least `least`.
  bool areWithin(const float* sums, std::int64_t width, float least) const {
    return kernels.areWithin(sums, width, least);
  }
  /// Multiplies the sums of a block by the outer scales.
  void multiplyOuterScales(const SumsBlock& block) const;
  /// Runs the steps of the epilogue on a block whose sums are finished, while it is in cache.
  /// `isScaled`: the sums are already multiplied by the outer scales.
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
  float factor; ///< the product of the outer scales
  SharedMaximum& amax;
  enum class Stored : std::uint8_t { F32, Bf16, F16, Narrow } stored;
  bool inPlace;
  bool isIdentity;
  ConvertPlan conversion{};
};

} // namespace octavo::kernels
