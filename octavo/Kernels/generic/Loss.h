// What values lose, in f64. Sums have four lanes in every set, so that all sets give the same bits.
#pragma once

#include "octavo/Kernels/generic/Vector.h"

namespace octavo::kernels::OCTAVO_KERNELS_ISA {

using LossF32 = VectorOf<float, LossLanes::kLanes>;
using LossF64 = VectorOf<double, LossLanes::kLanes>;

static bool addLoss(const float* values, const float* quantized, std::size_t n, double largestRatio,
                    LossLanes& lanes) {
// A fused product would be another sum where there is one.
#pragma clang fp contract(off)
  LossF64 errors = load<LossF64>(lanes.errorSquares), squares = load<LossF64>(lanes.valueSquares);
  LossF64 largest = load<LossF64>(lanes.largest);
  auto isLarger = largest < largest; // of no lane yet
  const auto addLanes = [&](const float* from, const float* became) __attribute__((always_inline)) {
    const LossF64 value = __builtin_convertvector(load<LossF32>(from), LossF64);
    const LossF64 restored = __builtin_convertvector(load<LossF32>(became), LossF64);
    const LossF64 error = __builtin_elementwise_abs(value - restored);
    const auto hasError = error >= 0;
    const LossF64 counted = hasError ? error : LossF64{};
    const LossF64 size = hasError ? __builtin_elementwise_abs(value) : LossF64{};
    largest = counted > largest ? counted : largest;
    errors += counted * counted;
    squares += size * size;
    // A product in place of a division, which is left to the few runs that have a larger ratio.
    isLarger |= counted > largestRatio * size;
  };
  std::size_t i = 0;
  for (; i + LossLanes::kLanes <= n; i += LossLanes::kLanes)
    addLanes(values + i, quantized + i);
  if (i < n) { // zeros after the last lose nothing
    float from[LossLanes::kLanes] = {}, became[LossLanes::kLanes] = {};
    __builtin_memcpy(from, values + i, (n - i) * sizeof(float));
    __builtin_memcpy(became, quantized + i, (n - i) * sizeof(float));
    addLanes(from, became);
  }
  store(lanes.errorSquares, errors);
  store(lanes.valueSquares, squares);
  store(lanes.largest, largest);
  return __builtin_reduce_or(isLarger);
}

} // namespace octavo::kernels::OCTAVO_KERNELS_ISA
