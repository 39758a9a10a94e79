#include "tools/octavo/program/RunDots.h"

#include "tools/octavo/TextTable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>

namespace octavo::tools {

namespace {

using analysis::QuantizationLoss;
using session::DotError;
using session::DotErrors;

std::vector<std::string> partsOf(const std::string& name) {
  std::vector<std::string> parts(1);
  for (const char c : name)
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

/// The number of leading parts that two names share.
std::size_t commonBeginning(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  const auto [end, _] = std::ranges::mismatch(a, b);
  return static_cast<std::size_t>(end - a.begin());
}

double shareOf(std::int64_t count, std::int64_t all) {
  return all == 0 ? 0 : static_cast<double>(count) / static_cast<double>(all);
}

std::string percent(double share) {
  return share == 0 ? "0" : fmt::format("{:.3g} %", 100 * share);
}

std::string decibels(const analysis::LossSums& sums) {
  const auto sqnr = sums.sqnr();
  return sqnr ? fmt::format("{:.1f}", *sqnr) : "-";
}

/// The side that the columns for weights show: of two activations, the right one.
std::size_t weightSide(const transforms::DotRecord& dot) {
  return dot.isWeight[1] || !dot.isWeight[0] ? 1 : 0;
}

void addSide(const DotError& dot, std::size_t side, std::vector<std::string>& row) {
  const QuantizationLoss& loss = dot.sides[side];
  const bool isNarrow = formatOf(dot.record, side) != nullptr;
  row.push_back(isNarrow ? decibels(loss.sums) : "as it is");
  row.push_back(fmt::format("{:.4g}", loss.sums.amax));
  row.push_back(isNarrow ? percent(shareOf(loss.saturated, loss.sums.values)) : "-");
  row.push_back(isNarrow ? percent(shareOf(loss.sums.underflowed, loss.sums.values)) : "-");
}

/// Makes equal names differ. JAX gives all dots outside named scopes the same name. Appends the
/// name of the weight, else the sizes; then numbers to names that are still equal.
void tellApart(std::vector<std::string>& names, const DotErrors& errors) {
  const auto countOf = [&] {
    std::map<std::string, std::size_t> count;
    for (const std::string& name : names)
      ++count[name];
    return count;
  };
  std::map<std::string, std::size_t> count = countOf();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const transforms::DotRecord& dot = errors.dots[i].record;
    if (count[names[i]] > 1)
      names[i] += " " + (dot.weight.empty() ? dot.sizes() : dot.weight);
  }
  count = countOf();
  std::map<std::string, std::size_t> numbers;
  for (std::string& name : names)
    if (count[name] > 1)
      name = fmt::format("{} #{}", name, ++numbers[name]);
}

} // namespace

std::vector<std::string> shortNames(const DotErrors& errors) {
  std::vector<std::vector<std::string>> names;
  for (const DotError& dot : errors.dots)
    names.push_back(partsOf(dot.record.name));
  // At least one part of each name stays.
  std::size_t shortest = names.front().size();
  for (const auto& name : names)
    shortest = std::min(shortest, name.size());
  std::size_t before = shortest - 1;
  for (const auto& name : names)
    before = std::min(before, commonBeginning(names.front(), name));
  std::size_t after = shortest - 1 - before;
  const auto reversed = [](std::vector<std::string> name) {
    std::ranges::reverse(name);
    return name;
  };
  for (const auto& name : names)
    after = std::min(after, commonBeginning(reversed(names.front()), reversed(name)));
  std::vector<std::string> result;
  for (const auto& name : names)
    result.push_back(fmt::format(
        "{}", fmt::join(std::ranges::subrange(name.begin() + static_cast<std::ptrdiff_t>(before),
                                              name.end() - static_cast<std::ptrdiff_t>(after)),
                        "/")));
  tellApart(result, errors);
  return result;
}

const format::ScaledFormat* formatOf(const transforms::DotRecord& dot, std::size_t side) {
  return side == 0 ? dot.lhs : dot.rhs;
}

std::string_view kindOf(const transforms::DotRecord& dot, std::size_t side) {
  return dot.isWeight[side] ? "weight" : "activation";
}

std::string formatsText(const transforms::DotRecord& dot) {
  const auto name = [](const format::ScaledFormat* format) {
    return format != nullptr ? format->name : std::string_view("wide");
  };
  if (!dot.isQuantized)
    return "left";
  if (dot.lhs == dot.rhs)
    return std::string(name(dot.lhs));
  return fmt::format("{} x {}", name(dot.lhs), name(dot.rhs));
}

std::string noSharesOfOne() {
  return "The outputs have rows of one element, in which errors of dots cancel or add by their "
         "signs "
         "alone: there are no shares of their error. What each dot loses is its result dB.";
}

std::string text(const DotErrors& errors) {
  const std::vector<std::string> names = shortNames(errors);
  TextTable table = {{"dot", "formats", "share", "result dB", "to f32 dB", "weight dB", "amax",
                      "saturated", "underflowed", "activation dB", "amax", "saturated",
                      "underflowed"}};
  bool hasPair = false;
  for (std::size_t i = 0; i < errors.dots.size(); ++i) {
    const DotError& dot = errors.dots[i];
    if (!dot.record.isQuantized)
      continue;
    std::vector<std::string> row = {names[i], formatsText(dot.record)};
    if (dot.runs == 0) {
      row.emplace_back("did not run");
      row.resize(table.front().size(), "");
    } else {
      row.push_back(dot.share ? fmt::format("{:.1f} %", 100 * *dot.share) : "-");
      row.push_back(decibels(dot.result));
      row.push_back(decibels(dot.accumulated));
      const std::size_t weight = weightSide(dot.record);
      hasPair |= !dot.record.isWeight[weight];
      addSide(dot, weight, row);
      addSide(dot, 1 - weight, row);
    }
    table.push_back(std::move(row));
  }
  std::string text = fmt::format("error by dot, {} of {} quantized\n\n{}", errors.quantized(),
                                 errors.dots.size(), plainText(table));
  if (hasPair)
    text += "Of dots of two activations, the right one stands under weight.\n";
  if (errors.nonFinite > 0)
    text += fmt::format("\n{} elements of the outputs are NaN or Inf in one of the two runs alone: "
                        "there are no shares of the error.\n",
                        errors.nonFinite);
  else if (errors.counted == 0 && errors.rowsOfOne > 0)
    text += fmt::format("\n{}\n", noSharesOfOne());
  else if (errors.error == 0)
    text += "\nNo output of floats differs from that of f32: there is no error to share.\n";
  else
    text += fmt::format("\nShare: of the squared relative error of the outputs, {:.3g}, what goes "
                        "when this dot alone is left as it is. They sum to {:.1f} %.\n",
                        errors.error, 100 * errors.sumOfShares());
  if (errors.counted > 0 && errors.rowsOfOne > 0)
    text +=
        fmt::format("{} output{} with rows of one element {} no part in it.\n", errors.rowsOfOne,
                    errors.rowsOfOne == 1 ? "" : "s", errors.rowsOfOne == 1 ? "has" : "have");
  return text;
}

} // namespace octavo::tools
