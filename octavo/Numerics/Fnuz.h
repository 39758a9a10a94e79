// OCP's FP8 to the FNUZ formats of the same widths and back, by bytes: a code's value halves (or
// doubles), so its scale doubles (or halves), and only codes without a twin change.
// docs/semantics.md, F6 to F11.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstdint>
#include <optional>
#include <span>

namespace octavo::numerics {

using format::ElementFormat;

/// The FNUZ format whose codes spell half the values of `format`: e4m3fnuz of e4m3fn, e5m2fnuz of
/// e5m2; or the OCP format of such a FNUZ one. Null for every other format.
const ElementFormat* fnuzTwin(const ElementFormat& format);

/// What NaN (and Inf) codes become.
enum class SpecialCodes : std::uint8_t {
  Refuse,   ///< nothing is changed; the first is reported
  Nan,      ///< NaN of the other format
  Saturate, ///< the largest value of its sign that has a twin: vLLM and Quark let these codes read
            ///< as the ones beyond, +-240 in e4m3fnuz
};

/// What finite FNUZ codes become that are beyond every OCP value once doubled: +-240 of e4m3fnuz,
/// +-32768 to +-57344 of e5m2fnuz.
enum class NoTwin : std::uint8_t {
  Refuse,
  Saturate,
  Requantize, ///< all codes are converted to the other format under the same scale
};

struct FnuzOptions {
  SpecialCodes special = SpecialCodes::Refuse;
  NoTwin noTwin = NoTwin::Refuse; ///< FNUZ to OCP only
};

struct FnuzReport {
  /// Index of the first code that was refused; the codes are then unchanged.
  std::optional<std::int64_t> refused = {};
  /// The scale is to be multiplied by 2^scaleExponent: 1 to FNUZ, -1 to OCP, 0 where requantized.
  int scaleExponent = 0;
  std::int64_t negativeZeros = 0; ///< to FNUZ: codes of -0, now +0
  std::int64_t specials = 0;      ///< NaN and Inf codes
  std::int64_t noTwins = 0;       ///< finite codes beyond the other format's values
  std::int64_t inexact = 0;       ///< Requantize: values that changed
};

/// Codes of e4m3fn or e5m2, one a byte, under one scale or many, to their FNUZ twin's, in place.
/// -0 (0x80, FNUZ's NaN) becomes +0.
FnuzReport ocpToFnuz(const ElementFormat& ocp, std::span<std::uint8_t> codes,
                     const FnuzOptions& options = {});

/// The other way. `codes` share what becomes of the scale: with NoTwin::Requantize, pass the codes
/// of one scale at a time.
FnuzReport fnuzToOcp(const ElementFormat& fnuz, std::span<std::uint8_t> codes,
                     const FnuzOptions& options = {});

/// Codes of a FNUZ format limited to the values of the OCP twin halved: +-240 of e4m3fnuz becomes
/// +-224. Returns how many changed.
std::int64_t capFnuz(const ElementFormat& fnuz, std::span<std::uint8_t> codes);

/// What a scale does that has no exact double or half.
enum class ScaleRange : std::uint8_t {
  Refuse,   ///< nothing is changed; the first is reported
  Saturate, ///< the nearest value of the scale format, never Inf or 0
};

struct ScaleShiftReport {
  std::optional<std::int64_t> refused = {};
  std::int64_t outOfRange = 0; ///< overflows, and halves that are not exact
};

/// Multiplies scales by 2^exponent, in place. The codes of any scale format (f32, bf16, f16,
/// e8m0fnu, ...) in containers of its bytes(). NaN and Inf stay as they are.
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint8_t> codes,
                             int exponent, ScaleRange range = ScaleRange::Refuse);
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint16_t> codes,
                             int exponent, ScaleRange range = ScaleRange::Refuse);
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint32_t> codes,
                             int exponent, ScaleRange range = ScaleRange::Refuse);
ScaleShiftReport shiftScales(std::span<float> scales, int exponent,
                             ScaleRange range = ScaleRange::Refuse);

} // namespace octavo::numerics
