// What makes the values of a checkpoint doubtful though they can be computed: commands that read
// them stop there, unless they are told to go on.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

enum class Doubt : std::uint8_t {
  NanScale,
  InfScale,
  NegativeScale,
  ZeroScale,
  BlockSize,
  UnscaledCodes,
  AmbiguousFormat
};

struct DoubtRow {
  Doubt doubt;
  std::string_view name; ///< where it is allowed; that of lint's rule, if there is one
  std::string_view noun; ///< of what was found: "a scale that is NaN"
  std::string_view then; ///< what comes of going on, as a clause
};
inline constexpr auto kDoubts = std::to_array<DoubtRow>({
    {Doubt::NanScale, "nan-scale", "a scale that is NaN", "every value under it is NaN"},
    {Doubt::InfScale, "inf-scale", "a scale that is infinite",
     "every value under it is infinite, or NaN where the code is 0"},
    {Doubt::NegativeScale, "negative-scale", "a scale that is negative",
     "every value under it has the opposite sign of its code"},
    {Doubt::ZeroScale, "zero-scale", "a scale of 0", "every value under it is 0"},
    {Doubt::BlockSize, "block-size",
     "a block size in its configuration that its tensors do not have",
     "the shape of the scales decides the block size"},
    {Doubt::UnscaledCodes, "unscaled-codes", "narrow floats without a scale",
     "each code is its own value, as where a model was cast"},
    {Doubt::AmbiguousFormat, "ambiguous-format",
     "bytes that are different values in two formats, and nothing says which it has",
     "they are read as the one found first"},
});

const DoubtRow& rowOf(Doubt doubt);
const DoubtRow* findDoubt(std::string_view name);

/// A set of them.
class Doubts {
public:
  void add(Doubt doubt) { bits |= bit(doubt); }
  bool has(Doubt doubt) const { return (bits & bit(doubt)) != 0; }

private:
  static std::uint8_t bit(Doubt doubt) {
    return static_cast<std::uint8_t>(1u << static_cast<unsigned>(doubt));
  }
  std::uint8_t bits = 0;
};

/// Why a command stops at a doubt: the fix names the option that has it go on, and what comes of
/// that, or of another doubt in its place.
Error doubtError(Doubt doubt, std::string file, std::string tensor, std::string expected,
                 std::string found, std::optional<Doubt> comesOf = {});
/// The same of a scale that no weight is under, of a layer's inputs or a cache: what comes of it is
/// that it is written as it is.
Error doubtOfInputs(Doubt doubt, std::string file, std::string tensor, std::string found);

} // namespace octavo::checkpoint
