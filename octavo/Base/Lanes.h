// Vector lanes. Lanes never interact, so the vector width of a machine changes no bit of a result.
#pragma once

#include <cstdint>

/// Compiles a function for three vector widths; the loader chooses one. Contraction is off, so no
/// version fuses multiply and add. Callees must be inlined into the function (OCTAVO_INTO_CLONES).
#if defined(__x86_64__) && defined(__linux__)
#define OCTAVO_VECTOR_CLONES                                                                       \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OCTAVO_VECTOR_CLONES
#endif
#define OCTAVO_INTO_CLONES __attribute__((always_inline)) inline

namespace octavo::base {

/// Lanes of a vector, on every machine.
inline constexpr std::int64_t kLanes = 8;
template <typename Part> struct LanesOf {
  typedef Part Type __attribute__((vector_size(kLanes * sizeof(Part))));
};
using Lanes = LanesOf<double>::Type;

} // namespace octavo::base
