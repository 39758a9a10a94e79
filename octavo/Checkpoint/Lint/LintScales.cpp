// Checks of scales with a wrong value: zero, NaN, infinite, negative, subnormal, inverted.

#include "octavo/Checkpoint/BlocksWithValues.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace octavo::checkpoint {

namespace {

/// Bounds of the largest weight. Trained networks lie far inside (outliers of published language
/// models reach about 60). Codes read without their scale, or with its reciprocal, lie outside: 448
/// for FP8 without a scale, 10^5 and more for a reciprocal.
constexpr double kLargestPlausibleWeight = 256;
constexpr double kSmallestPlausibleWeight = 1.0 / (1 << 20);

bool isPlausible(double weight) {
  return weight >= kSmallestPlausibleWeight && weight <= kLargestPlausibleWeight;
}

struct FaultRule {
  ScaleFault fault;
  RuleName rule;
  std::string_view word;
};
constexpr auto kFaultRules = std::to_array<FaultRule>({
    {ScaleFault::Zero, "zero-scale", "0"},
    {ScaleFault::Nan, "nan-scale", "NaN"},
    {ScaleFault::Inf, "inf-scale", "infinite"},
    {ScaleFault::Negative, "negative-scale", "negative"},
    {ScaleFault::Subnormal, "subnormal-scale", "subnormal"},
});

tl::expected<std::string, Error> faultText(const Part& part, const ScaleCensus& census,
                                           const FaultRule& row) {
  const std::uint64_t n = census.of(row.fault);
  if (census.count == 1)
    return fmt::format("the scale is {}", row.word);
  return firstScale(part, row.fault).map([&](std::optional<std::uint64_t> first) {
    return fmt::format("{} of {} scales {} {}, the first at {}", n, census.count,
                       n == 1 ? "is" : "are", row.word,
                       placeText(part.tensor.entry->shape, first.value_or(0)));
  });
}

void addFaults(const Part& part, const ScaleCensus& census, Findings& findings) {
  for (const FaultRule& row : kFaultRules) {
    if (census.of(row.fault) == 0)
      continue;
    if (auto text = faultText(part, census, row))
      findings.push_back(
          finding(row.rule, part.tensor.shard->name(), part.tensor.name(), std::move(*text)));
    else
      reportUnread(text.error(), findings);
  }
}

/// Adds faults of scales of activations, keys or values, which are quantized at run time: no weight
/// depends on them.
void addRunTimeFaults(const Part& part, const ScaleCensus& census, std::string_view quantized,
                      std::string_view fix, Findings& findings) {
  const std::size_t before = findings.size();
  addFaults(part, census, findings);
  for (std::size_t i = before; i < findings.size(); ++i)
    if (findings[i].severity == Severity::Error) {
      findings[i].why = fmt::format("readers quantize {} by it as the model runs: they become 0, "
                                    "infinite or NaN, and weights stay what they are",
                                    quantized);
      findings[i].fix = fix;
    }
}

void lintWeightScales(const LayerCensus& census, Findings& findings) {
  const Part& part = *census.layer->scales;
  const std::size_t before = findings.size();
  addFaults(part, *census.scales, findings);
  for (std::size_t i = before; i < findings.size(); ++i) {
    if (findings[i].rule != "zero-scale")
      continue;
    const auto zeroed = blocksWithValues(*census.layer, [](double scale) { return scale == 0; });
    if (!zeroed) {
      reportUnread(zeroed.error(), findings);
      return;
    }
    if (*zeroed == 0) {
      findings[i] = finding("zero-scale-of-zeros", findings[i].file, findings[i].tensor,
                            findings[i].what + ", over blocks of zeros");
    } else if (*zeroed) {
      findings[i].what += fmt::format("; {} of these blocks {} codes that are not 0", **zeroed,
                                      *zeroed == 1 ? "holds" : "hold");
    }
  }
}

/// The largest weight if one part is inverted: the outer scale if there is one, else the scales.
std::optional<double> turnedOver(const LayerCensus& census, double asRead) {
  const bool hasOuter = census.layer->type.hasOuterScale;
  const ScaleCensus& part = hasOuter ? *census.outer : *census.scales;
  const Meaning meaning = hasOuter ? census.layer->outer->meaning : census.layer->scales->meaning;
  const double factor =
      meaning == Meaning::Multiplies ? double{part.largest} : 1 / double{part.smallest};
  const double turned =
      meaning == Meaning::Multiplies ? 1 / double{part.smallest} : double{part.largest};
  return asRead / factor * turned;
}

void lintSize(const LayerCensus& census, Findings& findings) {
  const std::optional<double> asRead = census.largestWeight();
  if (!asRead || census.codes.largest == 0 || isPlausible(*asRead))
    return;
  const Part& part =
      census.layer->type.hasOuterScale ? *census.layer->outer : *census.layer->scales;
  const std::optional<double> turned = turnedOver(census, *asRead);
  const std::string_view verb =
      part.meaning == Meaning::Multiplies ? "multiplied by" : "divided by";
  const std::string_view other =
      part.meaning == Meaning::Multiplies ? "divided by" : "multiplied by";
  const bool isInverted = turned && *asRead > kLargestPlausibleWeight && isPlausible(*turned);
  findings.push_back(finding(
      isInverted ? RuleName("inverted-scale") : RuleName("implausible-scale"),
      part.tensor.shard->name(), part.tensor.name(),
      fmt::format(
          "the largest weight is {:.4g} when codes are {} the scale, as this layout has it, "
          "and {:.4g} when they are {} it",
          *asRead, verb, turned.value_or(0), other)));
}

/// Bounds of a layer's largest input. Models with massive activations reach some 10^4; a reciprocal
/// instead of an NVFP4 outer scale (or the reverse) implies 10^6 and more.
constexpr double kLargestInput = 1 << 18;
constexpr double kSmallestInput = 1.0 / (1 << 30);

void lintInput(const LayerCensus& census, Findings& findings) {
  const Part& part = *census.layer->inputScale;
  const format::ScaledFormat* format =
      census.layer->activations.format ? census.layer->activations.format : census.layer->format;
  if (!format || census.input->largest == 0)
    return;
  const double largest = numerics::maxValue(*format->element) *
                         (format->hasOuterScale ? numerics::maxValue(*format->scale) : 1);
  const bool multiplies = part.meaning == Meaning::Multiplies;
  const double greatest =
      largest * (multiplies ? double{census.input->largest} : 1 / double{census.input->smallest});
  const double least =
      largest * (multiplies ? double{census.input->smallest} : 1 / double{census.input->largest});
  if (greatest > kLargestInput || least < kSmallestInput)
    findings.push_back(finding(
        "input-scale-implausible", part.tensor.shard->name(), part.tensor.name(),
        fmt::format("{} is {} the scale, as this layout has it, so inputs would reach {:.4g}",
                    format->name, multiplies ? "multiplied by" : "divided by",
                    greatest > kLargestInput ? greatest : least)));
}

} // namespace

void lintScales(const LintSubject& subject, Findings& findings) {
  for (const LayerCensus& census : subject.layers) {
    if (census.scales)
      lintWeightScales(census, findings);
    if (census.outer)
      addFaults(*census.layer->outer, *census.outer, findings);
    if (census.input) {
      addRunTimeFaults(*census.layer->inputScale, *census.input, "activations",
                       "calibrate again, so that the layer sees activations that are not all 0 (an "
                       "expert that no token reached has none), and store the scale with `octavo "
                       "checkpoint scales apply DIR --scales FILE --into-checkpoint`",
                       findings);
      lintInput(census, findings);
    }
    lintSize(census, findings);
  }
  for (const KvScales& kv : subject.inventory.kvScales)
    for (const auto& [role, part] : scalesOf(kv))
      if (const auto census = takeScaleCensus(*part))
        addRunTimeFaults(*part, *census, "keys and values",
                         "calibrate again, and store the scales with `octavo checkpoint scales "
                         "apply DIR --scales FILE --into-checkpoint`",
                         findings);
      else
        reportUnread(census.error(), findings);
}

} // namespace octavo::checkpoint
