#include "octavo/Program/Folder/ProcessorFeatures.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

namespace octavo::program {

namespace {

struct Feature {
  std::string_view name;
  bool (*isThere)();
};

#if defined(__x86_64__)
// The compiler takes names as literals only.
#define OCTAVO_FEATURE(NAME) {NAME, [] { return __builtin_cpu_supports(NAME) != 0; }}
constexpr Feature kFeatures[] = {
    OCTAVO_FEATURE("sse3"),       OCTAVO_FEATURE("ssse3"),        OCTAVO_FEATURE("sse4.1"),
    OCTAVO_FEATURE("sse4.2"),     OCTAVO_FEATURE("sse4a"),        OCTAVO_FEATURE("popcnt"),
    OCTAVO_FEATURE("avx"),        OCTAVO_FEATURE("avx2"),         OCTAVO_FEATURE("fma"),
    OCTAVO_FEATURE("fma4"),       OCTAVO_FEATURE("xop"),          OCTAVO_FEATURE("f16c"),
    OCTAVO_FEATURE("bmi"),        OCTAVO_FEATURE("bmi2"),         OCTAVO_FEATURE("lzcnt"),
    OCTAVO_FEATURE("movbe"),      OCTAVO_FEATURE("gfni"),         OCTAVO_FEATURE("pclmul"),
    OCTAVO_FEATURE("vpclmulqdq"), OCTAVO_FEATURE("avx512f"),      OCTAVO_FEATURE("avx512cd"),
    OCTAVO_FEATURE("avx512bw"),   OCTAVO_FEATURE("avx512dq"),     OCTAVO_FEATURE("avx512vl"),
    OCTAVO_FEATURE("avx512ifma"), OCTAVO_FEATURE("avx512vbmi"),   OCTAVO_FEATURE("avx512vbmi2"),
    OCTAVO_FEATURE("avx512vnni"), OCTAVO_FEATURE("avx512bitalg"), OCTAVO_FEATURE("avx512vpopcntdq"),
    OCTAVO_FEATURE("avx512bf16"), OCTAVO_FEATURE("avx512fp16"),   OCTAVO_FEATURE("avxvnni"),
};
#undef OCTAVO_FEATURE
#else
constexpr std::array<Feature, 0> kFeatures = {};
#endif

} // namespace

std::vector<std::string> missingFeatures(std::span<const std::string> features) {
  std::vector<std::string> missing;
  for (const std::string& feature : features) {
    const auto row = std::ranges::find(kFeatures, feature, &Feature::name);
    if (row != std::end(kFeatures) && !row->isThere())
      missing.push_back(feature);
  }
  return missing;
}

} // namespace octavo::program
