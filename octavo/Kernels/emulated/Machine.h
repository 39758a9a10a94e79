// What Isa.cpp and Bf16Dots.cpp are told of the machine in the build of scripts/test-avx512,
// which includes this before them: AVX-512 throughout, with the dot products of bf16 that the
// environment variable OCTAVO_EMULATED_BF16 names: "none", "pairs", else tiles (AMX), too.
#pragma once

#include <cstdlib>
#include <string_view>

namespace octavo::kernels::emulated {

inline bool isEmulated(std::string_view feature) {
  return feature.starts_with("avx512") || feature.starts_with("amx");
}
inline bool hasEmulated(std::string_view feature) {
  const char* const variable = std::getenv("OCTAVO_EMULATED_BF16");
  const std::string_view bf16 = variable ? variable : "tiles";
  return feature == "avx512bf16" ? bf16 != "none" : !feature.starts_with("amx") || bf16 == "tiles";
}

} // namespace octavo::kernels::emulated

#define OCTAVO_EMULATED_MACHINE
#define __builtin_cpu_supports(feature)                                                            \
  (octavo::kernels::emulated::isEmulated(feature)                                                  \
       ? octavo::kernels::emulated::hasEmulated(feature)                                           \
       : __builtin_cpu_supports(feature))
