#include "octavo/Checkpoint/Jobs/Loss.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace octavo::checkpoint {

namespace {

constexpr std::size_t kLanes = 4;
using Floats = float __attribute__((ext_vector_type(kLanes)));
using Doubles = double __attribute__((ext_vector_type(kLanes)));
using Mask = decltype(Doubles() < Doubles());

/// Values whose ratios are found together, or passed over.
constexpr std::size_t kRun = 256;

Doubles load(const float* from) {
  Floats values;
  std::memcpy(&values, from, sizeof values);
  return __builtin_convertvector(values, Doubles);
}

double sum(Doubles lanes) { return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]); }

} // namespace

void Loss::add(const float* values, const float* quantized, std::size_t n) {
#pragma clang fp contract(off)
  Doubles errorLanes = 0, squareLanes = 0, largestLanes = 0;
  Mask isLarger = 0; // than the largest ratio so far, in this run
  const auto addLanes = [&](const float* value, const float* became) {
    const Doubles wide = load(value);
    const Doubles error = __builtin_elementwise_abs(wide - load(became));
    const Mask hasError = error >= 0;
    const Doubles counted = hasError ? error : 0;
    const Doubles size = hasError ? __builtin_elementwise_abs(wide) : 0;
    largestLanes = counted > largestLanes ? counted : largestLanes;
    errorLanes += counted * counted;
    squareLanes += size * size;
    // A product in place of a division, which is left to the few runs that have a larger ratio.
    isLarger |= counted > largestRatio * size;
  };
  for (std::size_t begin = 0; begin < n; begin += kRun) {
    const std::size_t end = std::min(begin + kRun, n);
    isLarger = 0;
    std::size_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
      addLanes(values + i, quantized + i);
    if (i < end) { // zeros after the last lose nothing
      float value[kLanes] = {}, became[kLanes] = {};
      std::copy(values + i, values + end, value);
      std::copy(quantized + i, quantized + end, became);
      addLanes(value, became);
    }
    if (!__builtin_reduce_or(isLarger))
      continue;
    for (i = begin; i < end; ++i) {
      const double value = values[i];
      const double error = std::fabs(value - quantized[i]);
      if (error >= 0 && value != 0)
        largestRatio = std::max(largestRatio, error / std::fabs(value));
    }
  }
  errors += sum(errorLanes);
  squares += sum(squareLanes);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    largestError = std::max(largestError, static_cast<double>(largestLanes[lane]));
}

void Loss::add(const Loss& other) {
  largestError = std::max(largestError, other.largestError);
  largestRatio = std::max(largestRatio, other.largestRatio);
  errors += other.errors;
  squares += other.squares;
}

} // namespace octavo::checkpoint
