// key=: the random numbers of stochastic rounding.
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

/// The stream that `key` names, a seed or a pair of seed and stream (docs/semantics.md, N11); none
/// where the rounding takes none. Raises FormatError where key and rounding do not go together,
/// DtypeError.
std::optional<numerics::RandomStream> randomStream(nanobind::handle key,
                                                   numerics::Rounding rounding);

/// n numbers of the stream that `key` names; none where the rounding takes none. Raises as
/// randomStream.
std::vector<std::uint32_t> randomBits(nanobind::handle key, numerics::Rounding rounding,
                                      std::size_t n);

} // namespace octavo::python
