// Checks of codes that should not occur in a weight.

#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::checkpoint {

namespace {

/// Whether an infinite scale or code makes values infinite by itself.
bool hasInfinity(const LayerCensus& census) {
  const auto isInfinite = [](const std::optional<ScaleCensus>& scales) {
    return scales && scales->of(ScaleFault::Inf) > 0;
  };
  return census.codes.inf > 0 || isInfinite(census.scales) || isInfinite(census.outer);
}

/// Reports values of finite codes under finite scales that exceed f32.
void lintInfinite(const LayerCensus& census, Findings& findings) {
  const std::optional<double> largest = census.largestWeight();
  if (!largest || *largest <= std::numeric_limits<float>::max() || hasInfinity(census))
    return;
  const auto reader = LayerReader::open(*census.layer);
  if (!reader)
    return;
  constexpr std::int64_t kRows = 128;
  const std::int64_t columns = reader->columns();
  std::vector<float> values;
  Fetched fetched;
  std::uint64_t count = 0, first = 0;
  for (std::int64_t begin = 0, end = 0; begin < reader->rows(); begin = end) {
    end = reader->pieceEnd(begin, kRows);
    values.resize(static_cast<std::size_t>((end - begin) * columns));
    if (auto read = reader->values(begin, end, values.data(), fetched); !read)
      return reportUnread(read.error(), findings);
    for (std::size_t i = 0; i < values.size(); ++i)
      if (std::isinf(values[i]) && ++count == 1)
        first = static_cast<std::uint64_t>(begin * columns) + i;
  }
  const Part& part = census.layer->elements;
  if (count > 0)
    findings.push_back(
        finding("infinite-value", part.tensor.shard->name(), part.tensor.name(),
                fmt::format("{} of {} values {} beyond f32, the first at {}: the largest would be "
                            "{:.4g}",
                            count, census.codes.count, count == 1 ? "is" : "are",
                            placeText(census.layer->shape, first), *largest)));
}

} // namespace

void lintCodes(const LintSubject& subject, Findings& findings) {
  for (const LayerCensus& census : subject.layers) {
    const Part& part = census.layer->elements;
    const format::ElementFormat& format = *part.format;
    const CodeCensus& codes = census.codes;
    const auto report = [&](RuleName rule, std::string what) {
      findings.push_back(
          finding(rule, part.tensor.shard->name(), part.tensor.name(), std::move(what)));
    };
    const auto share = [&](std::uint64_t n, std::string_view of) {
      return fmt::format("{} of {} codes {} {}", n, codes.count, n == 1 ? "is" : "are", of);
    };
    if (codes.nan > 0)
      report("nan-code", share(codes.nan, fmt::format("NaN ({})", format.name)));
    if (codes.inf > 0)
      report("inf-code", share(codes.inf, fmt::format("infinite ({})", format.name)));
    // Only one-byte formats have a twin with unsigned zero.
    if (codes.negativeZero > 0 && format.width() == 8)
      report("negative-zero", share(codes.negativeZero, "-0 (0x80)"));
    if (codes.count > 0 && codes.zero == codes.count)
      report("zero-weight", fmt::format("all {} codes are 0", codes.count));
    lintInfinite(census, findings);
  }
}

} // namespace octavo::checkpoint
