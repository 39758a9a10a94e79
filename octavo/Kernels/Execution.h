// How a call runs: on which instruction set and how many threads. Results depend on neither.
#pragma once

#include "octavo/Kernels/Isa.h"
#include "octavo/Kernels/Plans.h"

#include <algorithm>
#include <cstddef>
#include <functional>

namespace octavo::kernels {

struct Execution {
  Isa isa = defaultIsa(); ///< Precondition of every call: !whyNot(isa).
  int threads = 0;        ///< at most so many; 0: as many as the machine has
};

/// Streaming where `bytes`, read and written by one call, exceed the last-level cache, or
/// 32 MiB where that is more.
Stores storesFor(std::size_t bytes);

/// Calls body(begin, end) for ranges that cover [0, n), each begin a multiple of `grain`.
void forRanges(std::size_t n, std::size_t grain, const Execution& execution,
               const std::function<void(std::size_t begin, std::size_t end)>& body);

} // namespace octavo::kernels
