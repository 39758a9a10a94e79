// What a compiled kernel is to those that call it and to those that make it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace octavo::program {

/// A compiled loop: rows begin to end; memory[i] is its argument i, and behind the last one lies
/// how many items the run has, a std::int64_t.
using KernelFunction = void (*)(std::byte* const* memory, std::int64_t begin, std::int64_t end);

} // namespace octavo::program
