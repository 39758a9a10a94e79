// Codes that should not be in a weight.

#include "octavo/Checkpoint/Lint/LintSubject.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

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
    // The formats that have a twin with unsigned zero are those of a byte.
    if (codes.negativeZero > 0 && format.width() == 8)
      report("negative-zero", share(codes.negativeZero, "-0 (0x80)"));
    if (codes.count > 0 && codes.zero == codes.count)
      report("zero-weight", fmt::format("all {} codes are 0", codes.count));
  }
}

} // namespace octavo::checkpoint
