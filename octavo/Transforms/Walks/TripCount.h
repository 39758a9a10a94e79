// Trip counts of loops, and integers that change by a constant step in each iteration.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// The trip count of a loop that counts by one from a constant up to a constant, as jax.lax.scan
/// writes it; nullopt for other loops.
std::optional<std::int64_t> roundsOf(stablehlo::WhileOp loop);

/// An induction variable: `first` in the first iteration, then `step` more in each one.
struct RoundNumber {
  std::int64_t first, step;

  /// The number in the last of `rounds` iterations.
  std::int64_t last(std::int64_t rounds) const { return first + step * (rounds - 1); }
};

/// `value` as an induction variable in the body of a loop of `rounds` iterations, at least two.
/// nullopt if the step is not constant, or an iteration's number overflows the value's type.
std::optional<RoundNumber> roundNumber(mlir::Value value, stablehlo::WhileOp loop,
                                       std::int64_t rounds);

} // namespace octavo::transforms
