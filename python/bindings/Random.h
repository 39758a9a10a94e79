// key=: the random numbers of stochastic rounding.
#pragma once

#include "octavo/Numerics/Conversion.h"

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace octavo::python {

/// n numbers of the stream that `key` names, a seed or a pair of seed and stream
/// (docs/semantics.md, N11); none where the rounding takes none. Raises FormatError where key and
/// rounding do not go together.
std::vector<std::uint32_t> randomBits(nanobind::handle key, numerics::Rounding rounding,
                                      std::size_t n);

} // namespace octavo::python
