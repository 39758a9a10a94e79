// Comparison of pairs of values in f64. Sums have four lanes in every set, so that all sets give
// the same bits.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

using PairsF32 = VectorOf<float, ComparisonLanes::kLanes>;
using PairsF64 = VectorOf<double, ComparisonLanes::kLanes>;
using PairsI64 = VectorOf<std::int64_t, ComparisonLanes::kLanes>;

/// Calls `add` with the vectors of `n` pairs; the last vector is padded with zeros.
template <typename Add>
OCTAVO_INLINE void forPairs(const float* a, const float* b, std::size_t n, const Add& add) {
  constexpr std::size_t kLanes = ComparisonLanes::kLanes;
  const auto widened = [](const float* from) __attribute__((always_inline)) {
    return __builtin_convertvector(load<PairsF32>(from), PairsF64);
  };
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    add(widened(a + i), widened(b + i));
  if (i < n) {
    float lastA[kLanes] = {}, lastB[kLanes] = {};
    __builtin_memcpy(lastA, a + i, (n - i) * sizeof(float));
    __builtin_memcpy(lastB, b + i, (n - i) * sizeof(float));
    add(widened(lastA), widened(lastB));
  }
}

static ComparisonFlags compare(const float* values, const float* others, std::size_t n,
                               double largestRatio, ComparisonLanes& lanes) {
// Sets with fused multiply-adds would otherwise give other sums.
#pragma clang fp contract(off)
  PairsF64 errors = load<PairsF64>(lanes.errorSquares),
           squares = load<PairsF64>(lanes.valueSquares);
  PairsF64 largestError = load<PairsF64>(lanes.largestError),
           largestValue = load<PairsF64>(lanes.largestValue);
  PairsI64 differing = load<PairsI64>(lanes.differing);
  PairsI64 isLarger{}, isNotFinite{};
  forPairs(values, others, n, [&](PairsF64 value, PairsF64 other) __attribute__((always_inline)) {
    const PairsF64 error = __builtin_elementwise_abs(value - other);
    const PairsI64 isFinite = error < __builtin_inf(); // both values are finite
    isNotFinite |= ~isFinite;
    const PairsF64 counted = isFinite ? error : PairsF64{};
    const PairsF64 size = isFinite ? __builtin_elementwise_abs(value) : PairsF64{};
    largestError = counted > largestError ? counted : largestError;
    largestValue = size > largestValue ? size : largestValue;
    errors += counted * counted;
    squares += size * size;
    differing -= (PairsI64)(counted > 0);
    // A product instead of a division; compareRuns divides in the few runs with a larger ratio. A
    // value of 0, which is frequent in quantized weights, has no ratio.
    isLarger |= (PairsI64)(counted > largestRatio * size) & (PairsI64)(size > 0);
  });
  store(lanes.errorSquares, errors);
  store(lanes.valueSquares, squares);
  store(lanes.largestError, largestError);
  store(lanes.largestValue, largestValue);
  store(lanes.differing, differing);
  return {.hasLargerRatio = __builtin_reduce_or(isLarger) != 0,
          .hasNotFinite = __builtin_reduce_or(isNotFinite) != 0};
}

static bool areRounded(const RoundedRun& run) {
#pragma clang fp contract(off)
  PairsI64 isBroken{};
  for (std::size_t begin = 0, block = 0; begin < run.n; begin += run.block, ++block) {
    const RoundedBlock& bounds = run.bounds[block];
    PairsF64 amax{};
    const std::size_t n = run.n - begin < run.block ? run.n - begin : run.block;
    forPairs(run.values + begin, run.rounded + begin, n,
             [&](PairsF64 value, PairsF64 rounded) __attribute__((always_inline)) {
               const PairsF64 size = __builtin_elementwise_abs(value);
               const PairsF64 roundedSize = __builtin_elementwise_abs(rounded);
               const PairsF64 error = __builtin_elementwise_abs(value - rounded);
               amax = size > amax ? size : amax;
               const PairsI64 isNear = (PairsI64)(error <= roundedSize * bounds.relative) |
                                       (PairsI64)(error <= bounds.absolute);
               const PairsI64 isClipped =
                   (PairsI64)(roundedSize >= bounds.end) & (PairsI64)(size >= roundedSize) &
                   (PairsI64)(size <= bounds.clipped) & (PairsI64)(value * rounded > 0);
               isBroken |= ~(isNear | isClipped);
             });
    const double greatest = __builtin_reduce_max(amax);
    run.amaxes[block] = greatest > run.amaxes[block] ? greatest : run.amaxes[block];
  }
  return __builtin_reduce_or(isBroken) == 0;
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
