#include "octavo/Kernels/Isa.h"

#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <vector>

namespace octavo::kernels {

namespace {

struct IsaRow {
  Isa isa;
  std::string_view name;
};

constexpr auto kNames = std::to_array<IsaRow>({{Isa::Portable, "portable"},
                                               {Isa::Avx2, "avx2"},
                                               {Isa::Avx512, "avx512"},
                                               {Isa::Neon, "neon"}});

#if defined(__x86_64__) && !defined(OCTAVO_WITHOUT_AVX512)
constexpr auto kBuilt = std::to_array<Isa>({Isa::Portable, Isa::Avx2, Isa::Avx512});
#elif defined(__x86_64__)
constexpr auto kBuilt = std::to_array<Isa>({Isa::Portable, Isa::Avx2});
#elif defined(__aarch64__)
constexpr auto kBuilt = std::to_array<Isa>({Isa::Portable, Isa::Neon});
#else
constexpr auto kBuilt = std::to_array<Isa>({Isa::Portable});
#endif

/// The features of `isa` that the machine lacks, operating system support included.
std::vector<std::string_view> lacking(Isa isa) {
  std::vector<std::string_view> missing;
#if defined(__x86_64__)
  __builtin_cpu_init();
  auto need = [&](bool present, std::string_view name) {
    if (!present)
      missing.push_back(name);
  };
  if (isa == Isa::Avx2 || isa == Isa::Avx512) {
    need(__builtin_cpu_supports("avx2"), "AVX2");
    need(__builtin_cpu_supports("fma"), "FMA");
    need(__builtin_cpu_supports("f16c"), "F16C");
    need(__builtin_cpu_supports("bmi2"), "BMI2");
  }
  if (isa == Isa::Avx512) {
    need(__builtin_cpu_supports("avx512f"), "AVX512F");
    need(__builtin_cpu_supports("avx512bw"), "AVX512BW");
    need(__builtin_cpu_supports("avx512dq"), "AVX512DQ");
    need(__builtin_cpu_supports("avx512vl"), "AVX512VL");
    need(__builtin_cpu_supports("avx512vbmi"), "AVX512_VBMI");
    need(__builtin_cpu_supports("avx512vbmi2"), "AVX512_VBMI2");
    need(__builtin_cpu_supports("avx512vnni"), "AVX512_VNNI");
  }
#endif
  return missing;
}

} // namespace

std::span<const Isa> builtIsas() { return kBuilt; }

std::string_view isaName(Isa isa) {
  for (const IsaRow& row : kNames)
    if (row.isa == isa)
      return row.name;
  return {};
}

std::optional<std::string> whyNot(Isa isa) {
  bool built = false;
  for (Isa other : kBuilt)
    built |= other == isa;
  if (!built)
    return fmt::format("this build has no code for {}", isaName(isa));
  if (auto missing = lacking(isa); !missing.empty())
    return fmt::format("{} needs {}, which this machine lacks", isaName(isa),
                       fmt::join(missing, ", "));
  return std::nullopt;
}

tl::expected<Isa, std::string> chooseIsa(std::string_view request) {
  std::vector<std::string_view> usable;
  Isa best = Isa::Portable;
  for (Isa isa : kBuilt)
    if (!whyNot(isa)) {
      usable.push_back(isaName(isa));
      best = isa;
    }
  if (request.empty())
    return best;
  for (const IsaRow& row : kNames)
    if (row.name == request) {
      auto why = whyNot(row.isa);
      if (!why)
        return row.isa;
      return tl::unexpected(fmt::format("instruction set '{}' refused: {}; available here: {}",
                                        request, *why, fmt::join(usable, ", ")));
    }
  return tl::unexpected(fmt::format("unknown instruction set '{}'; available here: {}", request,
                                    fmt::join(usable, ", ")));
}

const tl::expected<Isa, std::string>& configuredIsa() {
  static const tl::expected<Isa, std::string> choice = [] {
    const char* request = std::getenv("OCTAVO_ISA");
    return chooseIsa(request ? request : "").map_error([](const std::string& error) {
      return "environment variable OCTAVO_ISA: " + error;
    });
  }();
  return choice;
}

Isa defaultIsa() {
  const auto& choice = configuredIsa();
  if (!choice)
    throw IsaError(choice.error());
  return *choice;
}

} // namespace octavo::kernels
