#include "tools/octavo/program/RunProfile.h"

#include "tools/octavo/TextTable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace octavo::tools {

namespace {

using execution::Explanation;
using Extent = execution::Profile::Extent;
using Json = nlohmann::ordered_json;

using StepsById = std::map<const void*, const Explanation::Step*>;

StepsById stepsById(const Explanation& explanation) {
  StepsById steps;
  for (const Explanation::Step& step : explanation.steps)
    steps[step.id] = &step;
  return steps;
}

/// `jit(f)/dot_general`, else the operation; what a chain has in it.
const std::string& nameOf(const Explanation::Step& step) {
  if (step.kind == "chain")
    return step.detail;
  return step.source.empty() ? step.operation : step.source;
}

struct Spent {
  std::int64_t times = 0;
  double seconds = 0, bytes = 0, arithmetic = 0;

  void add(double taken, const Explanation::Step& step) {
    ++times;
    seconds += taken;
    bytes += step.bytes;
    arithmetic += step.arithmetic;
  }
};

/// Of each step, without the steps that it ran. What ran in pieces, a chain's links and products'
/// epilogues, has the time of what it ran in, in proportion to what it took on all threads.
std::map<const Explanation::Step*, Spent> spentBySteps(const RunProfile& profile,
                                                       const Explanation& explanation) {
  const StepsById steps = stepsById(explanation);
  std::map<const Explanation::Step*, Spent> spent;
  std::map<const RunProfile::Event*, std::map<const Explanation::Step*, double>> links;
  std::vector<const RunProfile::Event*> around;
  std::map<int, std::vector<const RunProfile::Event*>> piecesAround; // of each thread
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
    spent[step].add(event.seconds, *step);
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
        spent[step].add(part, *step);
    }
  }
  return spent;
}

std::string rate(double amount, double seconds) {
  return amount > 0 && seconds > 0 ? fmt::format("{:.1f}", amount / seconds / 1e9) : "";
}

std::vector<std::string> figures(const Spent& spent, double total) {
  return {fmt::format("{:.3f}", spent.seconds * 1e3),
          fmt::format("{:.1f} %", 100 * spent.seconds / total), std::to_string(spent.times),
          rate(spent.arithmetic, spent.seconds), rate(spent.bytes, spent.seconds)};
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

std::string traceJson(const RunProfile& profile, const Explanation& explanation) {
  const StepsById steps = stepsById(explanation);
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
  return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump(
             -1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

std::string profileText(const RunProfile& profile, const Explanation& explanation) {
  const auto spent = spentBySteps(profile, explanation);
  std::map<std::string, Spent> kinds;
  double inSteps = 0;
  for (const auto& [step, own] : spent) {
    Spent& kind = kinds[step->kind];
    kind.times += own.times;
    kind.seconds += own.seconds;
    kind.bytes += own.bytes;
    kind.arithmetic += own.arithmetic;
    inSteps += own.seconds;
  }
  const auto isLonger = [](const auto& a, const auto& b) {
    return a.second.seconds > b.second.seconds;
  };
  TextTable byKind{{"ms", "share", "times", "Gop/s", "GB/s", "kind"}};
  std::vector<std::pair<std::string, Spent>> sorted(kinds.begin(), kinds.end());
  std::ranges::sort(sorted, isLonger);
  const double total = profile.seconds();
  for (const auto& [kind, own] : sorted) {
    byKind.push_back(figures(own, total));
    byKind.back().push_back(kind);
  }
  byKind.push_back({fmt::format("{:.3f}", (total - inSteps) * 1e3),
                    fmt::format("{:.1f} %", 100 * (total - inSteps) / total), "", "", "",
                    "between steps"});

  constexpr std::size_t kMost = 10, kWidth = 48;
  std::vector<std::pair<const Explanation::Step*, Spent>> longest(spent.begin(), spent.end());
  std::ranges::sort(longest, isLonger);
  longest.resize(std::min(longest.size(), kMost));
  TextTable bySteps{{"ms", "share", "times", "Gop/s", "GB/s", "kind", "source", "what"}};
  for (const auto& [step, own] : longest) {
    bySteps.push_back(figures(own, total));
    for (const std::string& word :
         {step->kind, cut(nameOf(*step), kWidth), cut(step->detail, kWidth)})
      bySteps.back().push_back(word);
  }
  return fmt::format("profile    one run of {:.3f} ms, in {} steps\n\n{}\n{}", total * 1e3,
                     explanation.steps.size(), plainText(std::move(byKind)),
                     plainText(std::move(bySteps)));
}

} // namespace octavo::tools
