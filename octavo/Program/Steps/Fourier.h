// stablehlo.fft (rule I22): f32 is transformed in f64, f64 in long double, each part rounded once.
#pragma once

#include "octavo/Program/Steps/Step.h"

#include <complex>
#include <mutex>
#include <variant>
#include <vector>

namespace octavo::program {

/// How lines of n numbers are transformed: by the factors of n.
template <typename Real> struct FourierPlan {
  explicit FourierPlan(std::int64_t n, bool isInverse);

  std::int64_t n;
  bool isInverse;
  std::vector<std::complex<Real>> roots; ///< of unity, n
  std::vector<std::int64_t> order;       ///< which number of a line comes where
  std::vector<std::int64_t> factors;     ///< the first are multiplied first
};

class FourierStep : public Step {
public:
  explicit FourierStep(OperationTextPtr op) : Step(std::move(op)) {}
  /// Of a real transform the last axis of the complex numbers has n / 2 + 1.
  enum class Kind : std::uint8_t { Forward, Inverse, RealForward, RealInverse };
  /// `lengths` are of the axes that are transformed, the last ones; `count` is how many there are
  /// of all of them. With several axes `wide` has memory between them (wideBytes).
  FourierStep(OperationTextPtr op, Kind kind, bool isF64, BatchExtent count,
              std::vector<std::int64_t> lengths, Slot from, Slot wide, Slot to)
      : Step(std::move(op)), kind(kind), isF64(isF64), count(count), lengths(std::move(lengths)),
        from(from), wide(wide), to(to) {}
  /// Of one of `count`; 0 where no memory is needed.
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
  /// Of each axis, made by the first run: a file that says how long its lines are is not trusted,
  /// the memory of a run is there.
  mutable std::variant<Plans<double>, Plans<long double>> plans;
  mutable std::once_flag isPlanned;
};

} // namespace octavo::program
