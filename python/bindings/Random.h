// The argument key=: the random numbers of stochastic rounding.
#pragma once

#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Philox.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace octavo::python {

/// The stream of random numbers that `key` names: a seed, or a pair of seed and stream
/// (docs/semantics.md, N11). nullopt unless the rounding is stochastic. Raises DtypeError, and
/// FormatError if only one of `key` and stochastic rounding is given.
std::optional<numerics::RandomStream> randomStream(nanobind::handle key,
                                                   numerics::Rounding rounding);

/// The first n numbers of the stream that `key` names; empty unless the rounding is stochastic.
/// Raises as randomStream does.
std::vector<std::uint32_t> randomBits(nanobind::handle key, numerics::Rounding rounding,
                                      std::size_t n);

} // namespace octavo::python
