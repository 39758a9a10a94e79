// What Isa.cpp and ProductFloat.cpp are told of the machine in the build of scripts/test-avx512,
// which includes this before them: AVX-512 throughout, with BF16 unless the environment variable
// OCTAVO_EMULATED_BF16 is 0.
#pragma once

#include <cstdlib>
#include <string_view>

namespace octavo::kernels::emulated {

inline bool isAvx512(std::string_view feature) { return feature.starts_with("avx512"); }
inline bool hasAvx512(std::string_view feature) {
  const char* bf16 = std::getenv("OCTAVO_EMULATED_BF16");
  return feature != "avx512bf16" || !bf16 || std::string_view(bf16) != "0";
}

} // namespace octavo::kernels::emulated

#define __builtin_cpu_supports(feature)                                                            \
  (octavo::kernels::emulated::isAvx512(feature) ? octavo::kernels::emulated::hasAvx512(feature)    \
                                                : __builtin_cpu_supports(feature))
