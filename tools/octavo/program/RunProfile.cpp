#include "tools/octavo/program/RunProfile.h"

#include "tools/octavo/TextTable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <span>

namespace octavo::tools {

namespace {

using program::Explanation;
using Extent = program::Profile::Extent;
using Json = nlohmann::ordered_json;

using StepsById = std::map<const void*, const Explanation::Step*>;

StepsById stepsById(const Explanation& explanation) {
  StepsById steps;
  for (const Explanation::Step& step : explanation.steps)
    steps[step.id] = &step;
  return steps;
}

using Limits = std::map<const Explanation::Step*, Limit>;

/// The limits of steps that have one. Links of chains and epilogues are parts of the step that
/// contains them.
Limits limitsOf(const Explanation& explanation, const MachineLimits& machine) {
  Limits limits;
  std::vector<const Explanation::Step*> around;
  for (const Explanation::Step& step : explanation.steps) {
    around.resize(static_cast<std::size_t>(step.depth));
    const bool isPart =
        !around.empty() && (around.back()->kind == "chain" || around.back()->kind == "product");
    if (const auto limit = limitOf(step, isPart, machine))
      limits[&step] = *limit;
    around.push_back(&step);
  }
  return limits;
}

/// The name of a step: its source name, `jit(f)/dot_general`, else its operation; for a chain, its
/// contents.
const std::string& nameOf(const Explanation::Step& step) {
  if (step.kind == "chain")
    return step.detail;
  return step.source.empty() ? step.operation : step.source;
}

using Spent = ProfileReport::Spent;

void add(Spent& spent, double taken, const Explanation::Step& step) {
  ++spent.times;
  spent.seconds += taken;
  spent.bytes += step.bytes;
  spent.arithmetic += step.arithmetic;
}

/// The time of each step without the steps inside it. Pieces (links of a chain, epilogues of
/// products) share the time of the step that contains them, in proportion to their time on all
/// threads.
std::map<const Explanation::Step*, Spent> spentBySteps(const RunProfile& profile,
                                                       const Explanation& explanation) {
  const StepsById steps = stepsById(explanation);
  std::map<const Explanation::Step*, Spent> spent;
  std::map<const RunProfile::Event*, std::map<const Explanation::Step*, double>> links;
  std::vector<const RunProfile::Event*> around;
  std::map<int, std::vector<const RunProfile::Event*>> piecesAround; // by thread
  for (const RunProfile::Event& event : profile.events()) {
    while (!around.empty() && around.back()->begin + around.back()->seconds <= event.begin)
      around.pop_back();
    const Explanation::Step* step = steps.at(event.step);
    if (event.extent == Extent::Piece) {
      if (around.empty())
        continue;
      auto& taken = links[around.back()];
      auto& pieces = piecesAround[event.thread];
      while (!pieces.empty() && pieces.back()->begin + pieces.back()->seconds <= event.begin)
        pieces.pop_back();
      if (!pieces.empty())
        taken[steps.at(pieces.back()->step)] -= event.seconds;
      taken[step] += event.seconds;
      pieces.push_back(&event);
      continue;
    }
    if (!around.empty())
      spent[steps.at(around.back()->step)].seconds -= event.seconds;
    add(spent[step], event.seconds, *step);
    around.push_back(&event);
  }
  for (const auto& [chain, taken] : links) {
    double all = 0;
    for (const auto& [step, seconds] : taken)
      all += seconds;
    const Explanation::Step* const own = steps.at(chain->step);
    spent[own].seconds -= chain->seconds;
    for (const auto& [step, seconds] : taken) {
      const double part = chain->seconds * seconds / all;
      if (step == own)
        spent[own].seconds += part;
      else
        add(spent[step], part, *step);
    }
  }
  return spent;
}

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

/// The percentage of the limit that is reached; empty if the limit is unknown.
std::string reached(const Spent& spent) {
  return spent.least > 0 ? fmt::format("{:.0f} %", 100 * spent.least / spent.seconds) : "";
}

std::vector<std::string> figures(const Spent& spent, double total) {
  return {fmt::format("{:.3f}", spent.seconds * 1e3),
          fmt::format("{:.1f} %", 100 * spent.seconds / total), std::to_string(spent.times),
          rate(spent.arithmetic, spent.seconds), rate(spent.bytes, spent.seconds)};
}

Json json(const Spent& spent, double total) {
  return {{"seconds", spent.seconds},
          {"share", spent.seconds / total},
          {"times", spent.times},
          {"bytes", spent.bytes},
          {"operations", spent.arithmetic},
          {"limit_seconds", spent.least > 0 ? Json(spent.least) : Json(nullptr)}};
}

std::string cut(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

} // namespace

RunProfile::RunProfile() : start(Clock::now()) { threads[std::this_thread::get_id()] = 0; }

void RunProfile::add(const void* step, Extent extent, Clock::time_point begin,
                     Clock::time_point end) {
  const auto seconds = [](Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  };
  const std::lock_guard lock(adding);
  const auto [thread, isNew] =
      threads.try_emplace(std::this_thread::get_id(), static_cast<int>(threads.size()));
  list.push_back({step, extent, thread->second, seconds(begin - start), seconds(end - begin)});
}

void RunProfile::end() {
  total = std::chrono::duration<double>(Clock::now() - start).count();
  std::ranges::sort(list, {}, [](const Event& event) {
    return std::tuple(event.begin, -event.seconds, event.extent == Extent::Piece);
  });
}

ProfileReport reportOf(const RunProfile& profile, const Explanation& explanation,
                       MachineLimits machine) {
  auto spent = spentBySteps(profile, explanation);
  const Limits limits = limitsOf(explanation, machine);
  ProfileReport report{
      .seconds = profile.seconds(), .limits = std::move(machine), .between = profile.seconds()};
  std::map<std::string, Spent> kinds;
  for (auto& [step, own] : spent) {
    if (const auto limit = limits.find(step); limit != limits.end()) {
      own.least = static_cast<double>(own.times) * limit->second.seconds;
      report.bounded += own.seconds;
      report.least += own.least;
    }
    Spent& kind = kinds[step->kind];
    kind.times += own.times;
    kind.seconds += own.seconds;
    kind.bytes += own.bytes;
    kind.arithmetic += own.arithmetic;
    kind.least += own.least;
    report.between -= own.seconds;
  }
  for (const auto& [name, own] : kinds)
    report.kinds.push_back({name, own});
  std::ranges::sort(report.kinds, std::ranges::greater(),
                    [](const auto& kind) { return kind.spent.seconds; });
  for (const auto& [step, own] : spent)
    report.steps.push_back({own, own.least > 0 ? std::string(limits.at(step).what) : "", step->kind,
                            nameOf(*step), step->detail});
  std::ranges::sort(report.steps, std::ranges::greater(),
                    [](const auto& step) { return step.spent.seconds; });
  return report;
}

std::string text(const ProfileReport& report) {
  const double total = report.seconds;
  TextTable byKind{{"ms", "share", "times", "Gop/s", "GB/s", "of limit", "kind"}};
  for (const ProfileReport::Kind& kind : report.kinds) {
    byKind.push_back(figures(kind.spent, total));
    byKind.back().push_back(reached(kind.spent));
    byKind.back().push_back(kind.name);
  }
  byKind.push_back({fmt::format("{:.3f}", report.between * 1e3),
                    fmt::format("{:.1f} %", 100 * report.between / total), "", "", "", "",
                    "between steps"});
  constexpr std::size_t kMost = 10, kWidth = 48;
  TextTable bySteps{
      {"ms", "share", "times", "Gop/s", "GB/s", "limit", "of it", "kind", "source", "what"}};
  for (const ProfileReport::Step& step :
       std::span(report.steps).first(std::min(report.steps.size(), kMost))) {
    bySteps.push_back(figures(step.spent, total));
    for (const std::string& word : {step.limit, reached(step.spent), step.kind,
                                    cut(step.name, kWidth), cut(step.detail, kWidth)})
      bySteps.back().push_back(word);
  }
  return fmt::format("profile    one run of {:.3f} ms, in {} steps\n{}"
                     "roofline   {:.3f} ms at the limits of its steps, {:.0f} % of the run; {:.3f} "
                     "ms of it are steps without one, or between steps\n\n{}\n{}",
                     total * 1e3, report.steps.size(), text(report.limits), report.least * 1e3,
                     100 * report.least / total, (total - report.bounded) * 1e3,
                     plainText(std::move(byKind)), plainText(std::move(bySteps)));
}

Json json(const ProfileReport& report) {
  Json kinds = Json::array(), steps = Json::array();
  for (const ProfileReport::Kind& kind : report.kinds) {
    Json entry{{"kind", kind.name}};
    entry.update(json(kind.spent, report.seconds));
    kinds.push_back(std::move(entry));
  }
  for (const ProfileReport::Step& step : report.steps) {
    Json entry{{"kind", step.kind}, {"source", step.name}, {"what", step.detail}};
    entry.update(json(step.spent, report.seconds));
    entry["limit"] = step.limit.empty() ? Json(nullptr) : Json(step.limit);
    steps.push_back(std::move(entry));
  }
  return {{"seconds", report.seconds},         {"limit_seconds", report.least},
          {"bounded_seconds", report.bounded}, {"between_seconds", report.between},
          {"limits", json(report.limits)},     {"kinds", std::move(kinds)},
          {"steps", std::move(steps)}};
}

std::string traceJson(const RunProfile& profile, const Explanation& explanation,
                      const ProfileReport& report) {
  const StepsById steps = stepsById(explanation);
  const Limits limits = limitsOf(explanation, report.limits);
  Json events = Json::array();
  int threads = 0;
  for (const RunProfile::Event& event : profile.events()) {
    threads = std::max(threads, event.thread);
    const Explanation::Step& step = *steps.at(event.step);
    Json entry{{"name", nameOf(step)},    {"cat", step.kind},           {"ph", "X"},
               {"ts", event.begin * 1e6}, {"dur", event.seconds * 1e6}, {"pid", 1},
               {"tid", event.thread}};
    if (event.extent == Extent::Whole) {
      Json arguments{{"operation", step.operation}, {"location", step.location}};
      if (!step.detail.empty())
        arguments["detail"] = step.detail;
      if (step.bytes > 0) {
        arguments["bytes"] = step.bytes;
        arguments["GB/s"] = step.bytes / event.seconds / 1e9;
      }
      if (step.arithmetic > 0)
        arguments["Gop/s"] = step.arithmetic / event.seconds / 1e9;
      if (const auto limit = limits.find(&step); limit != limits.end()) {
        arguments["limit"] = limit->second.what;
        arguments["limit_us"] = limit->second.seconds * 1e6;
        arguments["of_limit"] = limit->second.seconds / event.seconds;
      }
      entry["args"] = std::move(arguments);
    }
    events.push_back(std::move(entry));
  }
  for (int thread = 0; thread <= threads; ++thread)
    events.push_back(
        {{"name", "thread_name"},
         {"ph", "M"},
         {"pid", 1},
         {"tid", thread},
         {"args", {{"name", thread == 0 ? "steps" : fmt::format("thread {}", thread)}}}});
  return Json{{"traceEvents", std::move(events)},
              {"displayTimeUnit", "ns"},
              {"otherData", {{"profile", json(report)}}}}
             .dump(-1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

} // namespace octavo::tools
