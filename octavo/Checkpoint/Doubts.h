// Doubts: faults of a checkpoint under which its values can still be computed. Commands that read
// the values stop at a doubt unless the user allows it (--allow).
#pragma once

#include "octavo/Checkpoint/Files/Error.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

/// The faults. kDoubts describes each.
enum class Doubt : std::uint8_t {
  NanScale,
  InfScale,
  NegativeScale,
  ZeroScale,
  BlockSize,
  UnscaledCodes,
  AmbiguousFormat
};

/// How messages describe a doubt.
struct DoubtRow {
  Doubt doubt;
  std::string_view name; ///< the argument of --allow; the name of lint's rule if there is one
  std::string_view noun; ///< what was found: "a scale that is NaN"
  std::string_view then; ///< what follows from going on, as a clause
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

/// The row of kDoubts.
const DoubtRow& rowOf(Doubt doubt);
/// The row of that name; null if there is none.
const DoubtRow* findDoubt(std::string_view name);

/// A set of doubts.
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

/// The error with which a command stops at a doubt. Its fix names the option that allows the doubt
/// and the consequence of going on: that of `comesOf` if it is given, else that of `doubt`.
Error doubtError(Doubt doubt, std::string file, std::string tensor, std::string expected,
                 std::string found, std::optional<Doubt> comesOf = {});
/// The error for a doubtful scale of activations or of a cache. No weight depends on such a scale;
/// if allowed, the scale is written unchanged.
Error doubtOfInputs(Doubt doubt, std::string file, std::string tensor, std::string found);

} // namespace octavo::checkpoint
