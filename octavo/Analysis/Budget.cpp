#include "octavo/Analysis/Budget.h"

#include "octavo/Base/NearNames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

namespace octavo::analysis {

namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string unknownMetric(std::string_view name, bool hasOwn) {
  std::vector<std::string> known;
  for (const MetricRow& row : kMetrics)
    if (row.metric != Metric::Own || hasOwn)
      known.emplace_back(row.name);
  return "budget: " + base::notAmong("metric", name, known);
}

/// Why a bound is not a budget; empty if it is.
std::string problemOf(const Budget& budget) {
  if (!std::isfinite(budget.bound))
    return "the bound is no finite number";
  switch (budget.metric) {
  case Metric::Cosine:
    if (budget.bound > 1)
      return "no cosine is above 1";
    return budget.bound <= -1 ? "every cosine is at least -1" : "";
  case Metric::Relative:
  case Metric::Maximum:
    return budget.bound < 0 ? "an error is never below 0" : "";
  case Metric::Sqnr:
  case Metric::Own:
    break;
  }
  return "";
}

} // namespace

tl::expected<Budget, std::string> parseBudget(std::string_view text, bool hasOwn) {
  const auto failure = [&](const std::string& why) {
    return tl::make_unexpected(fmt::format("budget \"{}\": {}", text, why));
  };
  const std::size_t at = text.find_first_of("<>=");
  if (at == std::string_view::npos)
    return failure("expected METRIC >= NUMBER or METRIC <= NUMBER, such as cosine >= 0.99");
  const std::string_view name = trimmed(text.substr(0, at));
  const auto row = std::ranges::find(kMetrics, name, &MetricRow::name);
  if (row == kMetrics.end() || (row->metric == Metric::Own && !hasOwn)) {
    if (row != kMetrics.end())
      return failure("\"metric\" is the number that a metric of your own gives, and there is none: "
                     "give --metric COMMAND, in Python metric=");
    return tl::make_unexpected(unknownMetric(name, hasOwn));
  }
  if (hasOwn && row->metric != Metric::Own)
    return failure(fmt::format("a metric of your own is given, which is called \"metric\" here; "
                               "{} is octavo's: write metric >= NUMBER, or leave it out",
                               row->name));
  const std::string_view comparison = text.substr(at, 2);
  if (comparison != ">=" && comparison != "<=")
    return failure("expected >= or <= between metric and number");
  Budget budget{row->metric, comparison == ">=", 0};
  if (row->metric != Metric::Own && budget.isAtLeast != row->isAtLeast)
    return failure(fmt::format("a {} is bounded from {}: write {} {} NUMBER", row->name,
                               row->isAtLeast ? "below" : "above", row->name,
                               row->isAtLeast ? ">=" : "<="));
  const std::string_view number = trimmed(text.substr(at + 2));
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), budget.bound);
  if (error != std::errc() || end != number.data() + number.size())
    return failure(fmt::format("\"{}\" is no number", number));
  if (const std::string problem = problemOf(budget); !problem.empty())
    return failure(problem);
  return budget;
}

std::string_view nameOf(Metric metric) {
  return std::ranges::find(kMetrics, metric, &MetricRow::metric)->name;
}

std::string text(const Budget& budget) {
  return fmt::format("{} {} {}", nameOf(budget.metric),
                     budget.isAtLeast ? ">=" : "<=", budget.bound);
}

double lossOf(const Budget& budget, double value, double origin) {
  switch (budget.metric) {
  case Metric::Cosine:
    return 1 - value;
  case Metric::Relative:
  case Metric::Maximum:
    return value * value;
  case Metric::Sqnr:
    return std::pow(10, -value / 10);
  case Metric::Own:
    break;
  }
  return budget.isAtLeast ? origin - value : value - origin;
}

double valueOf(const Budget& budget, double loss, double origin) {
  switch (budget.metric) {
  case Metric::Cosine:
    return 1 - loss;
  case Metric::Relative:
  case Metric::Maximum:
    return std::sqrt(loss);
  case Metric::Sqnr:
    return -10 * std::log10(loss);
  case Metric::Own:
    break;
  }
  return budget.isAtLeast ? origin - loss : origin + loss;
}

} // namespace octavo::analysis
