// The instruction set that kernels run on: chosen at run time, or forced by OCTAVO_ISA or by an
// argument.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace octavo::kernels {

enum class Isa : std::uint8_t {
  Portable, ///< the compiler's baseline for the architecture
  Avx2,     ///< AVX2, FMA, F16C, BMI2 (Haswell, Zen and later)
  Avx512,   ///< AVX-512 F, BW, DQ, VL, VBMI, VBMI2, VNNI (Ice Lake, Zen 4 and later)
  Neon,     ///< Arm Advanced SIMD
};

/// The instruction sets that this build has code for, the preferred set last.
std::span<const Isa> builtIsas();

/// "portable", "avx2", "avx512", "neon".
std::string_view isaName(Isa isa);

/// nullopt if this build has code for `isa` and the machine runs it; else the reason why not.
std::optional<std::string> whyNot(Isa isa);

/// The set named `request`; if it is empty, the best set that the machine runs. An unknown name, or
/// a set that the build or the machine lacks, is an error that lists the available sets.
tl::expected<Isa, std::string> chooseIsa(std::string_view request);

/// chooseIsa of the environment variable OCTAVO_ISA, read once.
const tl::expected<Isa, std::string>& configuredIsa();

/// The error of configuredIsa as an exception.
class IsaError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The value of configuredIsa. Throws IsaError if it is an error: a silent fallback would report
/// the results of one set as those of another.
Isa defaultIsa();

} // namespace octavo::kernels
