#include "octavo/Checkpoint/Reports/LayerRows.h"

#include "octavo/Checkpoint/ModuleNames/Components.h"
#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

namespace octavo::checkpoint {

namespace {

/// Up to this many layers, every layer has its own row.
constexpr std::size_t kFewLayers = 300;
/// Most experts of a row that also get their own row because lint reports them.
constexpr std::ptrdiff_t kMostSuspects = 3;

using Group = std::vector<const ReportLayer*>;

/// "17" of "mlp.experts.17.up_proj.weight", whose experts are "mlp.experts".
std::string_view expertNumber(std::string_view name) {
  const std::string_view rest = name.substr(expertsOf(name).size() + 1);
  return rest.substr(0, rest.find('.'));
}

/// ".up_proj.weight" of "mlp.experts.17.up_proj.weight".
std::string_view projectionOf(std::string_view name) {
  const std::string_view number = expertNumber(name);
  return name.substr(static_cast<std::size_t>(number.data() + number.size() - name.data()));
}

std::string expertText(const ReportLayer& layer) {
  return fmt::format("expert {}", expertNumber(layer.name));
}

/// The tensors that errors and warnings of lint concern, and their modules.
std::set<std::string_view> suspectModules(const Findings& findings) {
  std::set<std::string_view> modules;
  for (const Finding& finding : findings)
    if (finding.severity != Severity::Note)
      modules.insert({finding.tensor, moduleOf(finding.tensor)});
  modules.erase(""); // from findings without a tensor
  return modules;
}

/// Groups layers by row; groups are ordered by their first layer. Experts that cannot be compared
/// form groups by the reason, so that no row mixes measured and unmeasured layers.
std::vector<Group> groupsOf(const std::vector<ReportLayer>& layers) {
  using Kin = std::tuple<std::string_view, std::string_view, std::string_view,
                         std::vector<std::int64_t>, std::string_view>;
  std::vector<Group> groups;
  std::map<Kin, std::size_t> places;
  for (const ReportLayer& layer : layers) {
    const std::string_view experts = expertsOf(layer.name);
    if (layers.size() <= kFewLayers || experts.empty()) {
      groups.push_back({&layer});
      continue;
    }
    const std::string_view comparison = isMeasured(layer) ? "measured"
                                        : layer.difference
                                            ? samenessName(layer.difference->sameness)
                                            : "";
    const auto [place, isNew] = places.try_emplace(
        {experts, projectionOf(layer.name), layer.format, layer.shape, comparison}, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[place->second].push_back(&layer);
  }
  return groups;
}

/// Sorts groups by their worst layer, ties in layer order.
std::vector<Group> worstFirst(std::vector<Group> groups) {
  const auto worst = [](const Group& group) {
    return badness(**std::ranges::max_element(
        group, {}, [](const ReportLayer* each) { return badness(*each); }));
  };
  std::ranges::sort(groups, [&](const Group& a, const Group& b) {
    const auto badnessOfA = worst(a), badnessOfB = worst(b);
    return badnessOfA != badnessOfB ? badnessOfA > badnessOfB : a.front() < b.front();
  });
  return groups;
}

/// "mlp.experts.0..255.up_proj.weight".
std::string nameOf(const Group& experts) {
  // Compares as numbers of any length without leading zeros.
  const auto number = [](const ReportLayer* layer) {
    const std::string_view text = expertNumber(layer->name);
    return std::pair(text.size(), text);
  };
  const auto [first, last] = std::ranges::minmax(experts, {}, number);
  const std::string_view name = first->name;
  return fmt::format("{}.{}..{}{}", expertsOf(name), expertNumber(name), expertNumber(last->name),
                     projectionOf(name));
}

void keepCommon(std::vector<std::string_view>& names, const std::vector<std::string_view>& others) {
  std::erase_if(names, [&](std::string_view name) {
    return std::ranges::find(others, name) == others.end();
  });
}

LayerRow rowOf(const Group& experts) {
  const ReportLayer& farthest =
      **std::ranges::max_element(experts, {}, [](const auto* each) { return badness(*each); });
  const ReportLayer& fullest =
      **std::ranges::max_element(experts, {}, [](const auto* each) { return shareAtMax(*each); });
  LayerRow row = {.figures = farthest, .ofAtMax = expertText(fullest)};
  row.figures.name = nameOf(experts);
  row.figures.codes = fullest.codes;
  row.figures.bytes = 0;
  row.figures.scales = {};
  row.figures.histogram = {};
  for (const ReportLayer* each : experts) {
    keepCommon(row.figures.reproduction.rules, each->reproduction.rules);
    keepCommon(row.figures.reproduction.presets, each->reproduction.presets);
    row.figures.bytes += each->bytes;
    row.figures.scales += each->scales;
    row.figures.histogram += each->histogram;
  }
  if (isMeasured(farthest)) {
    const ReportLayer& largest = **std::ranges::max_element(
        experts, {}, [](const auto* each) { return each->difference->maxAbsolute; });
    row.figures.difference->maxAbsolute = largest.difference->maxAbsolute;
    row.ofError = expertText(farthest);
    row.ofLargest = expertText(largest);
  }
  return row;
}

} // namespace

bool isMeasured(const ReportLayer& layer) {
  return layer.difference && (layer.difference->sameness == Sameness::Identical ||
                              layer.difference->sameness == Sameness::EqualValues ||
                              layer.difference->sameness == Sameness::Different);
}

double shareAtMax(const ReportLayer& layer) {
  return layer.codes.count
             ? static_cast<double>(layer.codes.atMax) / static_cast<double>(layer.codes.count)
             : 0;
}

std::pair<double, double> badness(const ReportLayer& layer) {
  const double error = isMeasured(layer) ? layer.difference->rms : -1;
  return {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, shareAtMax(layer)};
}

std::vector<LayerRow> layerRows(const Report& report) {
  if (report.layers.empty())
    return {};
  const std::set<std::string_view> suspects = suspectModules(report.findings);
  const auto hasFindings = [&](const ReportLayer* layer) {
    return suspects.contains(moduleOf(layer->name));
  };
  const ReportLayer* const worst = &*std::ranges::max_element(report.layers, {}, badness);
  std::vector<LayerRow> rows;
  for (const Group& group : worstFirst(groupsOf(report.layers))) {
    if (group.size() == 1) {
      rows.push_back({.figures = *group.front(),
                      .isSuspect = group.front() == worst || hasFindings(group.front())});
      continue;
    }
    const std::ptrdiff_t found = std::ranges::count_if(group, hasFindings);
    rows.push_back(rowOf(group));
    LayerRow& shared = rows.back();
    shared.remark = fmt::format("{} experts", group.size());
    if (found)
      shared.remark += fmt::format(", {} with findings", found);
    if (found > kMostSuspects)
      shared.remark += fmt::format(", the first {} below", kMostSuspects);
    shared.isSuspect = found || std::ranges::find(group, worst) != group.end();
    std::ptrdiff_t shown = 0;
    for (const ReportLayer* each : group) {
      const bool isShown = hasFindings(each) && shown++ < kMostSuspects;
      if (each == worst)
        rows.push_back({.figures = *each,
                        .remark = isMeasured(*each) ? "no layer has a larger error"
                                                    : "no layer has a larger share at max",
                        .isSuspect = true});
      else if (isShown)
        rows.push_back({.figures = *each, .remark = "has findings", .isSuspect = true});
    }
  }
  return rows;
}

} // namespace octavo::checkpoint
