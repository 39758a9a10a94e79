// How often a loop goes round, and the numbers that it steps through.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// The number of rounds of a loop that counts from a constant by one up to a constant, as
/// jax.lax.scan writes it; nothing of another.
std::optional<std::int64_t> roundsOf(stablehlo::WhileOp loop);

/// A number that each round has: `first`, then `step` more in each that follows.
struct RoundNumber {
  std::int64_t first, step;

  std::int64_t last(std::int64_t rounds) const { return first + step * (rounds - 1); }
};

/// The number that an integer is in the body of a loop of so many rounds, at least two: nothing
/// where it does not step evenly, or leaves its type on the way.
std::optional<RoundNumber> roundNumber(mlir::Value value, stablehlo::WhileOp loop,
                                       std::int64_t rounds);

} // namespace octavo::transforms
