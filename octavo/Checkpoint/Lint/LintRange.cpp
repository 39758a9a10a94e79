// Checks how much of the element format's range a weight uses.

#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <cmath>

namespace octavo::checkpoint {

namespace {

/// Share of codes at the largest value below which nothing is reported.
constexpr double kLeastShare = 0.005;

/// Upper bound of the ratio of codes at the largest value to codes at the next smaller one. It
/// holds if the scale follows from the maximum and larger weights are rarer. Uniform weights are
/// the limit: then it is the ratio of the intervals that round to the two codes. The upper interval
/// ends where the scale rule allows the maximum: at the largest value, half a step of the scale
/// format above it, or, for power-of-two scales that are rounded down, at the next power of two.
double roundedRatio(const numerics::ScaledType& type) {
  const format::ElementFormat& element = *type.element;
  const auto value = [&](std::uint64_t below) {
    return numerics::decode(element, element.maxCode() - below);
  };
  const double begin = (value(0) + value(1)) / 2;
  const double end = type.scale->specials == format::Specials::Scale
                         ? std::ldexp(1.0, element.emax() + 1)
                         : value(0) * (1 + std::ldexp(0.5, -type.scale->trailingSignificandBits));
  return (end - begin) / (begin - (value(1) + value(2)) / 2);
}

/// Whether more than twice as many codes are at the largest value as rounding explains, besides one
/// maximum a block. Weights of a few levels (a lattice that was quantized before) do not use the
/// next smaller code: nothing is concluded for them.
bool isClipped(const LayerCensus& census, std::uint64_t blocks) {
  const CodeCensus& codes = census.codes;
  const auto atMax = static_cast<double>(codes.atMax);
  return codes.belowMax > 0 && atMax > kLeastShare * static_cast<double>(codes.count) &&
         atMax > static_cast<double>(blocks) +
                     2 * roundedRatio(census.layer->type) * static_cast<double>(codes.belowMax);
}

/// Octaves by which the largest code may stay below the maximum. A power-of-two scale may leave one
/// octave unused; projections that share a scale, and experts that saw few tokens, several. FP4 has
/// only three and a half octaves.
int unusedOctaves(const format::ElementFormat& format) { return format.width() >= 8 ? 4 : 2; }

} // namespace

void lintRange(const LintSubject& subject, Findings& findings) {
  for (const LayerCensus& census : subject.layers) {
    const Part& part = census.layer->elements;
    const format::ElementFormat& format = *part.format;
    const CodeCensus& codes = census.codes;
    const auto report = [&](RuleName rule, std::string what) {
      findings.push_back(
          finding(rule, part.tensor.shard->name(), part.tensor.name(), std::move(what)));
    };
    const double largest = magnitude(format, codes.largest);
    const double max = numerics::maxValue(format);
    if (isClipped(census, census.scales ? census.scales->count : 1))
      report(
          "clipped-range",
          fmt::format("{} of {} codes ({:.1f}%) are at the largest value of {}, {}, and {} at "
                      "the one below it",
                      codes.atMax, codes.count,
                      100.0 * static_cast<double>(codes.atMax) / static_cast<double>(codes.count),
                      format.name, max, codes.belowMax));
    else if (largest > 0 && largest * std::ldexp(1.0, unusedOctaves(format)) <= max)
      report("wasted-range",
             fmt::format("the largest code is {} where {} has {}", largest, format.name, max));
  }
}

} // namespace octavo::checkpoint
