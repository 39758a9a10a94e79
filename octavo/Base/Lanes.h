// Numbers that are computed side by side, in the lanes of vectors. None meets another, so that the
// width of a machine's vectors changes no bit.
#pragma once

#include <cstdint>

/// Has a function compiled for three widths of vectors, of which one is chosen when the program is
/// loaded. Contraction is off, so none of them fuses a product with a sum. What it calls has to be
/// inlined into it.
#if defined(__x86_64__) && defined(__linux__)
#define OCTAVO_VECTOR_CLONES                                                                       \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define OCTAVO_VECTOR_CLONES
#endif
#define OCTAVO_INTO_CLONES __attribute__((always_inline)) inline

namespace octavo::base {

inline constexpr std::int64_t kLanes = 8;
template <typename Part> struct LanesOf {
  typedef Part Type __attribute__((vector_size(kLanes * sizeof(Part))));
};
using Lanes = LanesOf<double>::Type;

} // namespace octavo::base
