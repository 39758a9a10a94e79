// What quantizations took from tensors, summed over as many of them as come.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <optional>
#include <span>

namespace octavo::analysis {

/// Sums over pairs of a value and what became of it. Pairs of which either is NaN or infinite are
/// counted and have no part in anything else. The same for any number of threads.
struct LossSums {
  std::int64_t values = 0; ///< all of them
  std::int64_t nonFinite = 0;
  std::int64_t underflowed = 0; ///< not 0, and 0 afterwards
  double squares = 0;           ///< of the values
  double errors = 0;            ///< squares of the differences
  double amax = 0;              ///< of the values

  void add(std::span<const float> before, std::span<const float> after,
           const kernels::Execution& execution = {});

  /// 10 log10(squares / errors) in dB: infinite where nothing is lost, NaN where all values are 0,
  /// none where there is no pair.
  std::optional<double> sqnr() const;
};

/// What the operand of one product loses.
struct QuantizationLoss {
  LossSums sums;
  std::int64_t saturated = 0; ///< S10, by the quotient of S7

  /// Quantizes a row-major tensor and adds what that did to it: 9 bytes of memory a value.
  void add(std::span<const float> values, std::span<const std::int64_t> shape,
           const numerics::ScaledType& type, const numerics::QuantizeOptions& options,
           const kernels::Execution& execution = {});
};

} // namespace octavo::analysis
