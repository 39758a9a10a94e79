// octavo checkpoint diff: compares the weights of two checkpoints
// (docs/commands/checkpoint-diff.md).

#include "tools/octavo/Paths.h"
#include "tools/octavo/Progress.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/FigureJson.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/Reports/Diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>

namespace octavo::tools {

namespace {

using checkpoint::DiffReport;
using checkpoint::Folder;
using checkpoint::Json;
using checkpoint::Sameness;
using checkpoint::WeightDifference;

struct DiffFlags {
  std::string first, second;
  double tolerance = 0;
  bool isJson = false, showsAll = false;
  std::string firstLayout, secondLayout;
  WorkFlags work;
};

constexpr auto kSamenesses = std::to_array<Sameness>(
    {Sameness::Identical, Sameness::EqualValues, Sameness::Different, Sameness::OtherShape,
     Sameness::OnlyInFirst, Sameness::OnlyInSecond, Sameness::Unreadable});

std::string countsText(const DiffReport& report) {
  std::string text;
  for (Sameness sameness : kSamenesses)
    if (const std::uint64_t n = report.count(sameness))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", n, samenessName(sameness));
  return text.empty() ? "no weights" : text;
}

std::string reportText(const DiffReport& report, const DiffFlags& flags) {
  std::string text = fmt::format("A  {} ({})\nB  {} ({})\n", printable(flags.first),
                                 report.firstLayout, printable(flags.second), report.secondLayout);
  TextTable table = {
      {"weight", "A", "B", "", "differ", "max |a-b|", "of amax", "rms of |a|", "max |a-b|/|a|"}};
  std::string reasons;
  for (const WeightDifference& weight : report.weights) {
    const bool isSame = weight.sameness == Sameness::Identical;
    if (isSame && !flags.showsAll)
      continue;
    const bool hasFigures = weight.sameness == Sameness::Different;
    const auto figure = [&](double value) {
      return hasFigures ? fmt::format("{:.3g}", value) : std::string("-");
    };
    table.push_back({printable(weight.name), weight.first.empty() ? "-" : weight.first,
                     weight.second.empty() ? "-" : weight.second,
                     std::string(samenessName(weight.sameness)),
                     hasFigures ? fmt::format("{} of {}", weight.differing, weight.elements) : "-",
                     figure(weight.maxAbsolute), figure(weight.ofAmax), figure(weight.rms),
                     figure(weight.maxRelative)});
    if (!weight.why.empty())
      reasons += fmt::format("{}: {}\n", printable(weight.name), printable(weight.why));
  }
  if (table.size() > 1)
    text += "\n" + plainText(table);
  if (!reasons.empty())
    text += "\n" + reasons;
  return text + "\n" + countsText(report) + "\n";
}

std::string reportJson(const DiffReport& report, const DiffFlags& flags) {
  Json weights = Json::array(), counts;
  for (Sameness sameness : kSamenesses) {
    std::string key(samenessName(sameness));
    std::ranges::replace(key, ' ', '_');
    counts[key] = report.count(sameness);
  }
  for (const WeightDifference& weight : report.weights)
    weights.push_back(differenceJson(weight));
  return jsonText({{"first", flags.first},
                   {"second", flags.second},
                   {"first_layout", report.firstLayout},
                   {"second_layout", report.secondLayout},
                   {"tolerance", flags.tolerance},
                   {"within_tolerance", report.isWithin(flags.tolerance)},
                   {"counts", counts},
                   {"weights", weights}});
}

void runDiff(const DiffFlags& flags) {
  const Folder first = openFolder(flags.first), second = openFolder(flags.second);
  // A checkpoint that octavo cannot read has no values to compare.
  layoutOf(first, flags.firstLayout);
  layoutOf(second, flags.secondLayout);
  checkpoint::DiffOptions options = {.firstLayout = layoutIfNamed(flags.firstLayout),
                                     .secondLayout = layoutIfNamed(flags.secondLayout),
                                     .work = workSettings(flags.work)};
  const DiffReport report = [&] {
    Progress progress("comparing", bytesOf(first));
    options.work.progress = [&](std::uint64_t n) { progress.add(n); };
    return checkpoint::diff(first, second, options);
  }();
  printText(flags.isJson ? reportJson(report, flags) : reportText(report, flags));
  if (!report.isWithin(flags.tolerance))
    throw CommandError(fmt::format("{} and {} differ: {}", printable(flags.first),
                                   printable(flags.second), countsText(report)),
                       ExitCode::CheckFailed);
}

constexpr const char* kDiffExamples = R"(Examples:
  octavo checkpoint diff model-fp8/ model-fp8-converted/
  octavo checkpoint diff model-bf16/ model-nvfp4/ --tolerance 0.2
  octavo checkpoint diff a.safetensors b.safetensors --json
Values are compared as f32, whatever the layouts. --tolerance is the largest |a - b| that a weight
may have, as a share of its largest |a|.)";

} // namespace

void addDiffCommand(CLI::App& group) {
  CLI::App* command = group.add_subcommand("diff", "Compare the weights of two checkpoints");
  auto flags = std::make_shared<DiffFlags>();
  readsPath(command->add_option("A", flags->first, "Folder, or one safetensors file")->required());
  readsPath(
      command->add_option("B", flags->second, "Another one; the layouts may differ")->required());
  command
      ->add_option("--tolerance", flags->tolerance,
                   "Exit with 1 only if a weight differs by more than this fraction of its amax")
      ->check([](const std::string& text) {
        double value = 0;
        return CLI::detail::lexical_cast(text, value) && value >= 0
                   ? std::string()
                   : fmt::format("expected a number from 0 on, found {}", text);
      });
  addFromOption(*command, flags->firstLayout);
  addAgainstFromOption(*command, flags->secondLayout, "B");
  addWorkFlags(*command, flags->work);
  command->add_flag("--all", flags->showsAll, "Show identical weights too");
  command->add_flag("--json", flags->isJson, "As JSON");
  command->footer(kDiffExamples);
  command->callback([flags] { runDiff(*flags); });
}

} // namespace octavo::tools
