// Which instruction set the kernels run on: chosen at run time, forced by OCTAVO_ISA or by
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
  Portable, ///< what the compiler's baseline for the machine has
  Avx2,     ///< AVX2, FMA, F16C, BMI2 (Haswell, Zen and later)
  Avx512,   ///< AVX-512 F, BW, DQ, VL, VBMI, VBMI2, VNNI (Ice Lake, Zen 4 and later)
  Neon,     ///< Arm Advanced SIMD
};

/// The sets that this build has code for, the preferred one last.
std::span<const Isa> builtIsas();

/// "portable", "avx2", "avx512", "neon".
std::string_view isaName(Isa isa);

/// Nothing if this build has code for `isa` and the machine runs it, else what is lacking.
std::optional<std::string> whyNot(Isa isa);

/// The set named `request`, or the best that the machine runs where `request` is empty. An unknown
/// name, or a set that the build or the machine lacks, is an error that lists the ones to be had.
tl::expected<Isa, std::string> chooseIsa(std::string_view request);

/// chooseIsa of the environment variable OCTAVO_ISA, read once.
const tl::expected<Isa, std::string>& configuredIsa();

/// What configuredIsa says where it is an error.
class IsaError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// The value of configuredIsa. Throws IsaError where that is an error: falling back silently would
/// report one set's results as another's.
Isa defaultIsa();

} // namespace octavo::kernels
