// stablehlo.fft (rule I22): f32 is transformed in f64, f64 in long double, each part rounded once.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <complex>
#include <mutex>
#include <variant>
#include <vector>

namespace octavo::program {

/// A plan for transforming lines of n numbers, by the factors of n.
template <typename Real> struct FourierPlan {
  explicit FourierPlan(std::int64_t n, bool isInverse);

  std::int64_t n;
  bool isInverse;
  std::vector<std::complex<Real>> roots; ///< the n-th roots of unity
  std::vector<std::int64_t> order;       ///< index in the line of the number loaded to place i
  std::vector<std::int64_t> factors;     ///< of n, in the order in which they are combined
};

/// stablehlo.fft of `count` arrays.
class FourierStep : public Step {
public:
  explicit FourierStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// The last axis of the complex side of a real transform has n / 2 + 1 numbers.
  enum class Kind : std::uint8_t { Forward, Inverse, RealForward, RealInverse };
  /// `lengths` are the extents of the transformed axes, which are the last ones. `count` is the
  /// number of transforms. With several axes, `wide` holds the numbers between two axes
  /// (wideBytes).
  FourierStep(OperationTextPtr op, Kind kind, bool isF64, BatchExtent count,
              std::vector<std::int64_t> lengths, Slot from, Slot wide, Slot to)
      : Step(std::move(op)), kind(kind), isF64(isF64), count(count), lengths(std::move(lengths)),
        from(from), wide(wide), to(to) {}
  /// Bytes of `wide` for one transform; 0 if it needs none.
  static std::uint64_t wideBytes(Kind kind, bool isF64, const std::vector<std::int64_t>& lengths);
  Outcome run(Frame& frame) const override;
  StepFacts facts() const override;
  StepType type() const override { return StepType::Fourier; }
  void fields(ProgramFields& fields) override;

private:
  template <typename Part> bool transform(Frame& frame) const;
  void plan() const;

  Kind kind = Kind::Forward;
  bool isF64 = false;
  BatchExtent count;
  std::vector<std::int64_t> lengths;
  Slot from, wide, to;
  template <typename Real> using Plans = std::vector<FourierPlan<Real>>;
  /// One plan per axis. Made by the first run, not when a file is read: a file's line lengths are
  /// not trusted, whereas a run has memory of that size.
  mutable std::variant<Plans<double>, Plans<long double>> plans;
  mutable std::once_flag isPlanned;
};

} // namespace octavo::program
