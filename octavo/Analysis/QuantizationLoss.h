// The loss of quantizations, summed over any number of tensors.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <optional>
#include <span>

namespace octavo::analysis {

/// Sums over pairs of a value and its quantized value. A pair with a NaN or an infinity counts in
/// `values` and `nonFinite` alone. Sums do not depend on the number of threads.
struct LossSums {
  std::int64_t values = 0; ///< number of pairs
  std::int64_t nonFinite = 0;
  std::int64_t underflowed = 0; ///< not 0 before, 0 afterwards
  double squares = 0;           ///< of the values
  double errors = 0;            ///< squared differences
  double amax = 0;              ///< of the values

  /// Adds pairs of values. The spans are of equal size.
  void add(std::span<const float> before, std::span<const float> after,
           const kernels::Execution& execution = {});

  /// 10 log10(squares / errors) in dB: infinite if nothing is lost, NaN if all values are 0,
  /// nullopt without finite pairs.
  std::optional<double> sqnr() const;
};

/// The loss of the operand of one product.
struct QuantizationLoss {
  LossSums sums;
  std::int64_t saturated = 0; ///< saturated values (S10), by the quotient of S7

  /// Quantizes a row-major tensor and adds its loss. Needs 9 bytes of memory for each value.
  void add(std::span<const float> values, std::span<const std::int64_t> shape,
           const numerics::ScaledType& type, const numerics::QuantizeOptions& options,
           const kernels::Execution& execution = {});
};

} // namespace octavo::analysis
