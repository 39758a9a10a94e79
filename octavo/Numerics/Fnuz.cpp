#include "octavo/Numerics/Fnuz.h"

#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>

namespace octavo::numerics {

using format::Specials;

static bool isOcp(const ElementFormat& format) {
  return format.specials == Specials::NanOnly || format.specials == Specials::Ieee;
}

/// FNUZ spells half of an OCP format's values in the same codes where fields agree and the bias is
/// one more.
static bool areTwins(const ElementFormat& ocp, const ElementFormat& fnuz) {
  return isOcp(ocp) && fnuz.specials == Specials::UnsignedZero && !ocp.ocp.empty() &&
         ocp.exponentBits == fnuz.exponentBits &&
         ocp.trailingSignificandBits == fnuz.trailingSignificandBits && ocp.bias + 1 == fnuz.bias;
}

const ElementFormat* fnuzTwin(const ElementFormat& format) {
  const auto twin = std::ranges::find_if(format::kElementFormats, [&](const ElementFormat& other) {
    return areTwins(format, other) || areTwins(other, format);
  });
  return twin == format::kElementFormats.end() ? nullptr : &*twin;
}

static constexpr std::uint8_t kMagnitude = 0x7F;
static constexpr std::uint8_t kSign = 0x80;

namespace {

struct Census {
  std::int64_t signs = 0;  ///< codes 0x80
  std::int64_t beyond = 0; ///< codes whose magnitude is above the OCP format's largest finite code
};

} // namespace

static Census census(std::span<const std::uint8_t> codes, std::uint8_t limit) {
  Census found;
  // Counts of a byte, so that the loop has a byte a lane.
  for (std::size_t i = 0; i < codes.size(); i += 255) {
    std::uint8_t signs = 0, beyond = 0;
    for (std::uint8_t code : codes.subspan(i, std::min<std::size_t>(255, codes.size() - i))) {
      signs = static_cast<std::uint8_t>(signs + (code == kSign));
      beyond = static_cast<std::uint8_t>(beyond + ((code & kMagnitude) > limit));
    }
    found.signs += signs;
    found.beyond += beyond;
  }
  return found;
}

template <typename Predicate>
static std::int64_t firstIndex(std::span<const std::uint8_t> codes, Predicate predicate) {
  return std::ranges::find_if(codes, predicate) - codes.begin();
}

FnuzReport ocpToFnuz(const ElementFormat& ocp, std::span<std::uint8_t> codes,
                     const FnuzOptions& options) {
  assert(isOcp(ocp) && fnuzTwin(ocp));
  const auto limit = static_cast<std::uint8_t>(ocp.maxCode());
  const Census found = census(codes, limit);
  FnuzReport report{.scaleExponent = 1, .negativeZeros = found.signs, .specials = found.beyond};
  const auto isSpecial = [&](std::uint8_t code) { return (code & kMagnitude) > limit; };
  if (found.beyond > 0 && options.special == SpecialCodes::Refuse) {
    report.refused = firstIndex(codes, isSpecial);
    return report;
  }
  if (found.signs > 0)
    std::ranges::replace(codes, kSign, std::uint8_t{0});
  if (found.beyond > 0)
    for (std::uint8_t& code : codes)
      if (isSpecial(code))
        code = options.special == SpecialCodes::Nan
                   ? kSign
                   : static_cast<std::uint8_t>((code & kSign) | limit);
  return report;
}

/// All codes as numbers of `to`. NaN is `special`'s; nothing overflows, since the values of a FNUZ
/// format are within its OCP twin's.
static void requantize(const ElementFormat& from, const ElementFormat& to,
                       std::span<std::uint8_t> codes, SpecialCodes special, FnuzReport& report) {
  std::array<std::uint8_t, 256> map{};
  std::array<bool, 256> isInexact{};
  for (std::uint32_t code = 0; code < 256; ++code) {
    const double value = decode(from, code);
    map[code] = static_cast<std::uint8_t>(
        std::isnan(value) && special == SpecialCodes::Saturate ? to.maxCode() : convert(to, value));
    isInexact[code] = !std::isnan(value) && decode(to, map[code]) != value;
  }
  for (std::uint8_t& code : codes) {
    report.inexact += isInexact[code];
    code = map[code];
  }
}

FnuzReport fnuzToOcp(const ElementFormat& fnuz, std::span<std::uint8_t> codes,
                     const FnuzOptions& options) {
  assert(!isOcp(fnuz) && fnuzTwin(fnuz));
  const ElementFormat& ocp = *fnuzTwin(fnuz);
  const auto limit = static_cast<std::uint8_t>(ocp.maxCode());
  const Census found = census(codes, limit);
  FnuzReport report{.scaleExponent = -1, .specials = found.signs, .noTwins = found.beyond};
  const bool refusesNan = found.signs > 0 && options.special == SpecialCodes::Refuse;
  const bool refusesBeyond = found.beyond > 0 && options.noTwin == NoTwin::Refuse;
  if (refusesNan || refusesBeyond) {
    report.refused = firstIndex(codes, [&](std::uint8_t code) {
      return (refusesNan && code == kSign) || (refusesBeyond && (code & kMagnitude) > limit);
    });
    return report;
  }
  if (found.beyond > 0 && options.noTwin == NoTwin::Requantize) {
    report.scaleExponent = 0;
    requantize(fnuz, ocp, codes, options.special, report);
    return report;
  }
  const auto nan = static_cast<std::uint8_t>(options.special == SpecialCodes::Nan ? *ocp.nanCode()
                                                                                  : ocp.maxCode());
  if (found.beyond > 0)
    for (std::uint8_t& code : codes)
      if ((code & kMagnitude) > limit)
        code = static_cast<std::uint8_t>((code & kSign) | limit);
  if (found.signs > 0)
    std::ranges::replace(codes, kSign, nan);
  return report;
}

std::int64_t capFnuz(const ElementFormat& fnuz, std::span<std::uint8_t> codes) {
  assert(!isOcp(fnuz) && fnuzTwin(fnuz));
  const auto limit = static_cast<std::uint8_t>(fnuzTwin(fnuz)->maxCode());
  std::int64_t changed = 0;
  for (std::uint8_t& code : codes)
    if ((code & kMagnitude) > limit) {
      code = static_cast<std::uint8_t>((code & kSign) | limit);
      ++changed;
    }
  return changed;
}

namespace {

struct Shifted {
  std::uint64_t code;
  bool isExact;
};

} // namespace

static Shifted shifted(const ElementFormat& scale, std::uint64_t code, int exponent) {
  if (scale.isNan(code) || scale.isInf(code))
    return {code, true};
  const double value = decode(scale, code);
  const double target = std::ldexp(value, exponent);
  double result = round(scale, target, {.overflow = Overflow::Saturate});
  if (result == 0 && value != 0)
    result = std::copysign(minPositive(scale), value);
  return {encode(scale, result), result == target};
}

/// `Scale` is a container of codes, or float.
template <typename Code, typename Scale>
static ScaleShiftReport shiftAll(const ElementFormat& format, std::span<Scale> scales, int exponent,
                                 ScaleRange range) {
  assert(format.bytes() == sizeof(Scale));
  ScaleShiftReport report;
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (!shifted(format, std::bit_cast<Code>(scales[i]), exponent).isExact) {
      ++report.outOfRange;
      if (range == ScaleRange::Refuse && !report.refused)
        report.refused = static_cast<std::int64_t>(i);
    }
  if (!report.refused)
    for (Scale& scale : scales)
      scale = std::bit_cast<Scale>(
          static_cast<Code>(shifted(format, std::bit_cast<Code>(scale), exponent).code));
  return report;
}

ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint8_t> codes,
                             int exponent, ScaleRange range) {
  return shiftAll<std::uint8_t>(scale, codes, exponent, range);
}
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint16_t> codes,
                             int exponent, ScaleRange range) {
  return shiftAll<std::uint16_t>(scale, codes, exponent, range);
}
ScaleShiftReport shiftScales(const ElementFormat& scale, std::span<std::uint32_t> codes,
                             int exponent, ScaleRange range) {
  return shiftAll<std::uint32_t>(scale, codes, exponent, range);
}
ScaleShiftReport shiftScales(std::span<float> scales, int exponent, ScaleRange range) {
  return shiftAll<std::uint32_t>(format::element("f32"), scales, exponent, range);
}

} // namespace octavo::numerics
