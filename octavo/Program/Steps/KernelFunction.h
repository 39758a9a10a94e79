// The signature of a compiled kernel.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo::program {

/// Computes rows [begin, end). memory[i] is argument i; the entry after the last argument points to
/// the run's batch size, a std::int64_t.
using KernelFunction = void (*)(std::byte* const* memory, std::int64_t begin, std::int64_t end);

} // namespace octavo::program
