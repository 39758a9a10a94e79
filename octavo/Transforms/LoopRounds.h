// How often a loop goes round.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// The number of rounds of a loop that counts from a constant by one up to a constant, as
/// jax.lax.scan writes it; nothing of another.
std::optional<std::int64_t> roundsOf(stablehlo::WhileOp loop);

} // namespace octavo::transforms
