#include "tools/octavo/program/RunExplanation.h"

#include "tools/octavo/TextTable.h"

#include "octavo/Base/ByteText.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace octavo::tools {

namespace {

using program::Explanation;
using Json = nlohmann::ordered_json;

/// The operations that are interpreted for one reason.
struct InterpretedGroup {
  std::string operation, reason;
  std::vector<std::string> locations;
};

/// The groups, largest first.
std::vector<InterpretedGroup> grouped(const Explanation& explanation) {
  std::vector<InterpretedGroup> groups;
  for (const Explanation::Interpreted& each : explanation.interpreted) {
    auto group = std::ranges::find_if(groups, [&](const InterpretedGroup& known) {
      return known.operation == each.operation && known.reason == each.reason;
    });
    if (group == groups.end())
      group = groups.insert(groups.end(), {each.operation, each.reason, {}});
    group->locations.push_back(each.location);
  }
  std::ranges::sort(groups, {}, [](const InterpretedGroup& group) {
    return std::tuple<std::ptrdiff_t, std::string_view, std::string_view>(
        -static_cast<std::ptrdiff_t>(group.locations.size()), group.operation, group.reason);
  });
  return groups;
}

std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string kindsText(const std::vector<Explanation::Counted>& counts) {
  std::vector<std::string> words;
  words.reserve(counts.size());
  for (const Explanation::Counted& each : counts)
    words.push_back(fmt::format("{} {}", each.count, each.what));
  return fmt::format("{}", fmt::join(words, "; "));
}

std::int64_t sumOf(const std::vector<Explanation::Counted>& counts) {
  std::int64_t sum = 0;
  for (const Explanation::Counted& each : counts)
    sum += each.count;
  return sum;
}

std::string placesText(const std::vector<std::string>& locations) {
  constexpr std::size_t kMost = 3;
  const std::size_t shown = std::min(kMost, locations.size());
  std::string text =
      fmt::format("{}", fmt::join(locations.begin(),
                                  locations.begin() + static_cast<std::ptrdiff_t>(shown), ", "));
  if (shown < locations.size())
    text += fmt::format(" and {} more", locations.size() - shown);
  return text;
}

std::string functionText(const Explanation& explanation) {
  if (!explanation.interpretedWhole.empty())
    return fmt::format("interpreted   as a whole: {}\n", explanation.interpretedWhole);
  std::string page =
      fmt::format("compiled      {} after the passes\n"
                  "  kernels     {} in {}, {} of them different\n",
                  counted(explanation.operations, "operation"),
                  counted(explanation.kernels.operations, "operation"),
                  counted(explanation.kernels.steps, "kernel"), explanation.kernels.distinct);
  if (!explanation.products.empty())
    page += fmt::format("  products    {}: {}\n", sumOf(explanation.products),
                        kindsText(explanation.products));
  page += fmt::format("  in place    {}: views, constants, and what has no use\n",
                      counted(explanation.inlined, "operation"));
  if (!explanation.others.empty())
    page += fmt::format("  besides     {}\n", kindsText(explanation.others));
  page +=
      fmt::format("  interpreted {}\n",
                  counted(static_cast<std::int64_t>(explanation.interpreted.size()), "operation"));
  page += fmt::format("memory        arena {}, constants {}",
                      base::bytesText(static_cast<std::uint64_t>(explanation.arenaBytes)),
                      base::bytesText(static_cast<std::uint64_t>(explanation.constantBytes)));
  if (explanation.packedWeights > 0)
    page += fmt::format(", {} packed once, {}", counted(explanation.packedWeights, "weight"),
                        base::bytesText(static_cast<std::uint64_t>(explanation.packedBytes)));
  page += '\n';
  if (explanation.interpreted.empty())
    return page;
  TextTable table{{"count", "interpreted", "why", "where"}};
  for (const InterpretedGroup& group : grouped(explanation))
    table.push_back({std::to_string(group.locations.size()), group.operation, group.reason,
                     placesText(group.locations)});
  return page + "\n" + plainText(std::move(table));
}

Json countsJson(const std::vector<Explanation::Counted>& counts) {
  Json list = Json::array();
  for (const Explanation::Counted& each : counts)
    list.push_back({{"what", each.what}, {"count", each.count}});
  return list;
}

Json functionJson(const Explanation& explanation) {
  if (!explanation.interpretedWhole.empty())
    return {{"compiled", false}, {"reason", explanation.interpretedWhole}};
  Json document{{"compiled", true},
                {"operations", explanation.operations},
                {"kernels",
                 {{"operations", explanation.kernels.operations},
                  {"steps", explanation.kernels.steps},
                  {"distinct", explanation.kernels.distinct}}},
                {"products", countsJson(explanation.products)},
                {"inlined", explanation.inlined},
                {"others", countsJson(explanation.others)},
                {"arena_bytes", explanation.arenaBytes},
                {"constant_bytes", explanation.constantBytes},
                {"packed_weights",
                 {{"count", explanation.packedWeights}, {"bytes", explanation.packedBytes}}},
                {"interpreted", Json::array()}};
  for (const InterpretedGroup& group : grouped(explanation))
    document["interpreted"].push_back({{"operation", group.operation},
                                       {"reason", group.reason},
                                       {"count", group.locations.size()},
                                       {"locations", group.locations}});
  return document;
}

} // namespace

std::string explanationText(const std::string& program, const std::optional<DropCounts>& drops,
                            std::span<const ExplainedFunction> functions) {
  std::string all;
  for (const ExplainedFunction& function : functions)
    all += fmt::format("{}program       {} @{}\n{}", all.empty() ? "" : "\n", program,
                       function.name, functionText(function.explanation));
  if (drops)
    all += fmt::format("\nleft wide     {}\n", text(*drops));
  return all;
}

std::string explanationJson(const std::string& program, const std::string& backend,
                            const std::optional<DropCounts>& drops,
                            std::span<const ExplainedFunction> functions) {
  Json document{{"program", program},
                {"backend", backend},
                {"scales", drops ? json(*drops) : Json(nullptr)},
                {"functions", Json::array()}};
  for (const ExplainedFunction& function : functions) {
    Json entry{{"name", function.name}};
    entry.update(functionJson(function.explanation));
    document["functions"].push_back(std::move(entry));
  }
  // Names in a program can have any bytes; those that are not UTF-8 are replaced.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace octavo::tools
