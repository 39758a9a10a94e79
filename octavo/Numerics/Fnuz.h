// Conversion between OCP's FP8 and the FNUZ formats, code by code. The same code has half the value
// in FNUZ, so the scale doubles (or halves on the way back). Only codes without a counterpart
// change. docs/semantics.md, F6 to F11.
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstdint>
#include <optional>
#include <span>

namespace octavo::numerics {

using format::ElementFormat;

/// The counterpart of `format`: e4m3fnuz for e4m3fn, e5m2fnuz for e5m2, and the reverse. A FNUZ
/// code has half the value of the same OCP code. Null for every other format.
const ElementFormat* fnuzTwin(const ElementFormat& format);

/// The result for NaN and Inf codes.
enum class SpecialCodes : std::uint8_t {
  Refuse,   ///< nothing is changed; the first such code is reported
  Nan,      ///< NaN of the other format
  Saturate, ///< the largest code of the same sign that has a counterpart. vLLM and Quark leave
            ///< these codes unchanged, and they then read as the next value, +-240 in e4m3fnuz
};

/// The result for finite FNUZ codes whose doubled value is beyond every OCP value: +-240 of
/// e4m3fnuz, +-32768 to +-57344 of e5m2fnuz.
enum class NoTwin : std::uint8_t {
  Refuse,     ///< nothing is changed; the first such code is reported
  Saturate,   ///< the largest value of the same sign
  Requantize, ///< all codes are converted to the other format under the same scale
};

struct FnuzOptions {
  SpecialCodes special = SpecialCodes::Refuse;
  NoTwin noTwin = NoTwin::Refuse; ///< FNUZ to OCP only
};

struct FnuzReport {
  /// Index of the first code that was refused; the codes are then unchanged.
  std::optional<std::int64_t> refused = {};
  /// The caller multiplies the scale by 2^scaleExponent: 1 to FNUZ, -1 to OCP, 0 if requantized.
  int scaleExponent = 0;
  std::int64_t negativeZeros = 0; ///< to FNUZ: codes of -0, now +0
  std::int64_t specials = 0;      ///< NaN and Inf codes
  std::int64_t noTwins = 0;       ///< finite codes beyond the other format's values
  std::int64_t inexact = 0;       ///< Requantize: values that changed
};

/// Converts codes of e4m3fn or e5m2, one per byte, to the FNUZ counterpart, in place. The codes may
/// have one scale or many. -0 (0x80, FNUZ's NaN) becomes +0.
FnuzReport ocpToFnuz(const ElementFormat& ocp, std::span<std::uint8_t> codes,
                     const FnuzOptions& options = {});

/// Converts FNUZ codes to the OCP counterpart, in place. The report's scaleExponent holds for all
/// of `codes`: with NoTwin::Requantize, pass the codes of one scale at a time.
FnuzReport fnuzToOcp(const ElementFormat& fnuz, std::span<std::uint8_t> codes,
                     const FnuzOptions& options = {});

/// Limits FNUZ codes, in place, to half the largest value of the OCP counterpart: +-240 of e4m3fnuz
/// becomes +-224. Returns the number of codes that changed.
std::int64_t capFnuz(const ElementFormat& fnuz, std::span<std::uint8_t> codes);

/// The result for a scale whose double or half is not exact.
enum class ScaleRange : std::uint8_t {
  Refuse,   ///< nothing is changed; the first such scale is reported
  Saturate, ///< the nearest value of the scale format, never Inf or 0
};

struct ScaleShiftReport {
  std::optional<std::int64_t> refused = {}; ///< index of the first refused scale
  std::int64_t outOfRange = 0;              ///< overflows, and halves that are not exact
};

/// Multiplies scales by 2^exponent, in place. `codes` are of any scale format (f32, bf16, f16,
/// e8m0fnu, ...), in containers of its bytes(). NaN and Inf stay as they are.
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint8_t> codes,
                             int exponent, ScaleRange range = ScaleRange::Refuse);
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint16_t> codes,
                             int exponent, ScaleRange range = ScaleRange::Refuse);
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint32_t> codes,
                             int exponent, ScaleRange range = ScaleRange::Refuse);
ScaleShiftReport shiftScales(std::span<float> scales, int exponent,
                             ScaleRange range = ScaleRange::Refuse);

} // namespace octavo::numerics
