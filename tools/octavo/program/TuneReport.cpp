#include "tools/octavo/program/TuneReport.h"

#include "tools/octavo/TextTable.h"

#include "octavo/Base/ByteText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace octavo::tools {

namespace {

using analysis::Choice;
using analysis::MeasuredChoice;
using session::TrialDot;
using session::TuningCost;
using Json = nlohmann::ordered_json;

std::string nameOfDot(const TrialDot& dot) {
  std::string name = dot.dots.front().name;
  if (dot.dots.size() > 1)
    name += fmt::format(" and {} more", dot.dots.size() - 1);
  return name;
}

/// The measurement with only this dot as chosen; null if there is none.
const MeasuredChoice* alone(const TuneReport& report, std::size_t dot) {
  Choice choice(report.trials->dots().size(), 0);
  choice[dot] = report.chosen().choice[dot];
  const auto& measured = report.result->search.measured;
  const auto found = std::ranges::find(measured, choice, &MeasuredChoice::choice);
  return found == measured.end() ? nullptr : &*found;
}

std::vector<std::string> costCells(const TuneReport& report, const MeasuredChoice& choice) {
  std::vector<std::string> cells;
  if (report.cost == TuningCost::Time)
    cells.push_back(fmt::format("{:.2f}", choice.cost * 1e3));
  cells.push_back(
      base::bytesText(static_cast<std::uint64_t>(report.trials->weightBytes(choice.choice))));
  cells.push_back(fmt::format("{:.3f}", report.trials->bitsPerWeight(choice.choice)));
  cells.push_back(valueText(report.budget, report.value(choice.loss)));
  return cells;
}

std::vector<std::string> costHeads(const TuneReport& report) {
  std::vector<std::string> heads;
  if (report.cost == TuningCost::Time)
    heads.emplace_back("ms, predicted");
  heads.insert(heads.end(),
               {"weights", "bits", std::string(analysis::nameOf(report.budget.metric))});
  return heads;
}

std::string uniformTable(const TuneReport& report) {
  TextTable table = {{"all dots in"}};
  std::ranges::copy(costHeads(report), std::back_inserter(table[0]));
  const auto add = [&](const std::string& name, const MeasuredChoice& choice) {
    table.push_back({name});
    std::ranges::copy(costCells(report, choice), std::back_inserter(table.back()));
  };
  add("f32", report.result->search.measured.front());
  for (std::size_t at : report.result->uniform) {
    const MeasuredChoice& choice = report.result->search.measured[at];
    add(report.trials->candidateName(choice.choice.front()), choice);
  }
  return plainText(std::move(table));
}

std::string frontTable(const TuneReport& report) {
  const auto& measured = report.result->search.measured;
  TextTable table = {costHeads(report)};
  table[0].insert(table[0].begin(), "");
  table[0].emplace_back("dots");
  // The choice that runs found to be fastest need not be on the predicted front.
  std::vector<std::size_t> shown = analysis::front(measured);
  if (const auto chosen = static_cast<std::size_t>(&report.chosen() - measured.data());
      std::ranges::find(shown, chosen) == shown.end())
    shown.insert(std::ranges::upper_bound(shown, measured[chosen].cost, {},
                                          [&](std::size_t at) { return measured[at].cost; }),
                 chosen);
  for (std::size_t at : shown) {
    table.push_back(costCells(report, measured[at]));
    table.back().insert(table.back().begin(), &measured[at] == &report.chosen() ? "*" : "");
    table.back().push_back(report.formatCounts(measured[at].choice));
  }
  return plainText(std::move(table));
}

std::string dotTable(const TuneReport& report) {
  TextTable table = {{"dot", "MxNxK", "format", "weights",
                      fmt::format("{} of it alone", analysis::nameOf(report.budget.metric))}};
  for (std::size_t i = 0; i < report.trials->dots().size(); ++i) {
    const TrialDot& dot = report.trials->dots()[i];
    const std::size_t candidate = report.chosen().choice[i];
    const MeasuredChoice* one = alone(report, i);
    table.push_back(
        {nameOfDot(dot), dot.dots.front().sizes(), report.trials->candidateName(candidate),
         base::bytesText(static_cast<std::uint64_t>(dot.weightBits[candidate] + 7) / 8),
         candidate == 0 || one == nullptr ? "-"
                                          : valueText(report.budget, report.value(one->loss))});
  }
  return plainText(std::move(table));
}

/// JSON has no infinity.
Json numberOrNull(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json pointJson(const TuneReport& report, const MeasuredChoice& choice) {
  Json formats = Json::array();
  for (std::size_t candidate : choice.choice)
    formats.push_back(report.trials->candidateName(candidate));
  return {
      {"bytes", report.trials->weightBytes(choice.choice)},
      {"bits_per_weight", report.trials->bitsPerWeight(choice.choice)},
      {"seconds_predicted", report.cost == TuningCost::Time ? Json(choice.cost) : Json(nullptr)},
      {"value", numberOrNull(report.value(choice.loss))},
      {"formats", std::move(formats)}};
}

} // namespace

const MeasuredChoice& TuneReport::chosen() const {
  const analysis::SearchResult& search = result->search;
  return search.measured[search.best.value_or(search.leastLoss)];
}

double TuneReport::value(double loss) const {
  return analysis::valueOf(budget, loss, result->origin);
}

std::string TuneReport::formatCounts(const Choice& choice) const {
  std::vector<std::size_t> counts(trials->candidates().size() + 1, 0);
  for (std::size_t candidate : choice)
    ++counts[candidate];
  std::vector<std::pair<std::size_t, std::size_t>> most;
  for (std::size_t candidate = 0; candidate < counts.size(); ++candidate)
    if (counts[candidate] > 0)
      most.emplace_back(counts[candidate], candidate);
  std::ranges::sort(most, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  std::vector<std::string> texts;
  for (const auto& [count, candidate] : most)
    texts.push_back(fmt::format("{} {}", count, trials->candidateName(candidate)));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string valueText(const analysis::Budget& budget, double value) {
  if (!std::isfinite(value))
    return budget.metric == analysis::Metric::Sqnr && value > 0 ? "inf" : "NaN or Inf";
  switch (budget.metric) {
  case analysis::Metric::Cosine:
    // Two digits of the difference from the best value, so that good formats differ.
    return fmt::format(
        "{:.{}f}", value,
        value >= 1 ? 5
                   : std::clamp(static_cast<int>(std::ceil(-std::log10(1 - value))) + 1, 5, 12));
  case analysis::Metric::Sqnr:
    return fmt::format("{:.2f}", value);
  case analysis::Metric::Relative:
  case analysis::Metric::Maximum:
    return fmt::format("{:.3g}", value);
  case analysis::Metric::Own:
    break;
  }
  return fmt::format("{:.6g}", value);
}

std::string text(const TuneReport& report) {
  const MeasuredChoice& chosen = report.chosen();
  const auto& search = report.result->search;
  std::string text = fmt::format(
      "program   {} @{}: {} of {} dots tuned, {} set{} of inputs\n", report.program,
      report.trials->name(), report.trials->dots().size(), report.trials->allDots().size(),
      report.trials->inputSets(), report.trials->inputSets() == 1 ? "" : "s");
  text += fmt::format("measured  {} choices in {:.1f} s", search.measured.size(), report.seconds);
  if (report.result->fromState > 0)
    text += fmt::format(", {} of them in a run before", report.result->fromState);
  text += "\n";
  if (!report.result->failures.empty())
    text += fmt::format("failed    {} choices could not be run; the first, {}: {}\n",
                        report.result->failures.size(),
                        report.formatCounts(report.result->failures.front().first),
                        report.result->failures.front().second);
  if (const auto& names = report.result->rowsOfOne; !names.empty())
    text += fmt::format("note      {} {} rows of one element, which have no cosine: 1 - r^2 / 2 of "
                        "the relative error r counts for {}\n",
                        fmt::join(names, ", "), names.size() == 1 ? "has" : "have",
                        names.size() == 1 ? "it" : "them");
  text += "\n" + uniformTable(report) + "\n" + frontTable(report) + "\n" + dotTable(report) + "\n";
  text += fmt::format(
      "budget    {}\n{}    {}: {}, {:.3f} bits a weight, {} {}\n", analysis::text(report.budget),
      report.isMet() ? "chosen" : "best  ", report.formatCounts(chosen.choice),
      base::bytesText(static_cast<std::uint64_t>(report.trials->weightBytes(chosen.choice))),
      report.trials->bitsPerWeight(chosen.choice), analysis::nameOf(report.budget.metric),
      valueText(report.budget, report.value(chosen.loss)));
  if (report.runs)
    text += fmt::format("time      of a run: {:.2f} ms as the program is, {:.2f} ms as chosen, the "
                        "fastest of {} that were run by turns\n",
                        report.runs->first * 1e3, report.runs->second * 1e3,
                        report.result->timed.size());
  text += fmt::format("recipe    {}\n", report.recipe);
  return text;
}

std::string json(const TuneReport& report) {
  const auto& search = report.result->search;
  Json uniform = Json::array(), front = Json::array(), dots = Json::array();
  for (std::size_t at : report.result->uniform)
    uniform.push_back(pointJson(report, search.measured[at]));
  for (std::size_t at : analysis::front(search.measured))
    front.push_back(pointJson(report, search.measured[at]));
  for (std::size_t i = 0; i < report.trials->dots().size(); ++i) {
    const TrialDot& dot = report.trials->dots()[i];
    const MeasuredChoice* one = alone(report, i);
    Json names = Json::array();
    for (const transforms::DotRecord& each : dot.dots)
      names.push_back(each.name);
    const std::size_t candidate = report.chosen().choice[i];
    dots.push_back(
        {{"names", std::move(names)},
         {"weight", dot.dots.front().weight},
         {"sizes", dot.dots.front().sizes()},
         {"format", report.trials->candidateName(candidate)},
         {"bytes", (dot.weightBits[candidate] + 7) / 8},
         {"value_alone", one == nullptr ? Json(nullptr) : numberOrNull(report.value(one->loss))}});
  }
  Json document = {{"program", report.program},
                   {"function", report.trials->name()},
                   {"input_sets", report.trials->inputSets()},
                   {"budget", analysis::text(report.budget)},
                   {"metric", analysis::nameOf(report.budget.metric)},
                   {"cost", report.cost == TuningCost::Bytes ? "bytes" : "time"},
                   {"is_met", report.isMet()},
                   {"measured", search.measured.size()},
                   {"measured_before", report.result->fromState},
                   {"failed", report.result->failures.size()},
                   {"rows_of_one", report.result->rowsOfOne},
                   {"seconds", report.seconds},
                   {"f32", pointJson(report, search.measured.front())},
                   {"chosen", pointJson(report, report.chosen())},
                   {"run_seconds", nullptr},
                   {"uniform", std::move(uniform)},
                   {"front", std::move(front)},
                   {"dots", std::move(dots)},
                   {"recipe", report.recipe}};
  if (report.runs)
    document["run_seconds"] = {{"f32", report.runs->first}, {"chosen", report.runs->second}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace octavo::tools
