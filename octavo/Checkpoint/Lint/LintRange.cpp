// How much of the element format's range a weight uses.

#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <cmath>

namespace octavo::checkpoint {

namespace {

/// Share of codes at the largest value from which weights were cut off rather than rounded there.
/// A scale from the maximum puts one code of a block there, and of a bell-shaped weight few others:
/// for formats of 8 bits those within half an ulp, under one in a thousand. In the formats of 6 and
/// 4 bits one step is a large part of the range, and so many codes are at the end by rounding: of
/// normal weights 17 of 100 in blocks of 16 of e2m1, 1 of 16 in e2m3.
double clippedShare(const format::ElementFormat& format) {
  return format.width() >= 8 ? 0.01 : format.width() == 6 ? 0.15 : 0.35;
}

/// How many octaves below the maximum the largest code may stay. A power-of-two scale may leave one
/// unused; projections that share a scale, and experts that saw few tokens, several. The 4-bit
/// format has only three octaves and a half.
int unusedOctaves(const format::ElementFormat& format) { return format.width() >= 8 ? 4 : 2; }

} // namespace

void lintRange(const LintSubject& subject, Findings& findings) {
  for (const LayerCensus& census : subject.layers) {
    const Part& part = census.layer->elements;
    const format::ElementFormat& format = *part.format;
    const CodeCensus& codes = census.codes;
    if (codes.count == 0 || codes.zero == codes.count)
      continue;
    const auto report = [&](std::string_view rule, std::string what) {
      findings.push_back(
          lintFinding(rule, part.tensor.shard->name(), part.tensor.name(), std::move(what)));
    };
    const double largest = magnitude(format, codes.largest);
    const double max = numerics::maxValue(format);
    // A block has at least one code at the end: small blocks need not be clipped to have many.
    const std::uint64_t blocks = census.scales ? census.scales->count : 1;
    const double share = static_cast<double>(codes.atMax) / static_cast<double>(codes.count);
    if (share > clippedShare(format) && codes.atMax > 2 * blocks)
      report("clipped-range",
             fmt::format("{} of {} codes ({:.1f}%) are at the largest value of {}, {}", codes.atMax,
                         codes.count, 100 * share, format.name, max));
    else if (largest > 0 && largest * std::ldexp(1.0, unusedOctaves(format)) <= max)
      report("wasted-range",
             fmt::format("the largest code is {} where {} has {}", largest, format.name, max));
  }
}

} // namespace octavo::checkpoint
