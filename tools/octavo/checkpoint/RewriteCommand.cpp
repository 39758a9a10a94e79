#include "tools/octavo/checkpoint/RewriteCommand.h"

#include "tools/octavo/Interruption.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/Progress.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/FindingRules.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <vector>

namespace octavo::tools {

using checkpoint::Json;
using checkpoint::LayerChange;
using checkpoint::Rewrite;

void addRewriteFlags(CLI::App& command, RewriteFlags& flags) {
  readsPath(
      command.add_option("DIR", flags.input, "The checkpoint: a folder, or a safetensors file")
          ->required());
  writesPath(command
                 .add_option("-o,--output", flags.output,
                             "Folder to write: a new one, or that of the same job, interrupted")
                 ->type_name("OUT")
                 ->required(),
             {.comparesFolders = true});
  addWorkFlags(command, flags.work);
  command.add_flag("--dry-run", flags.isDryRun, "Print the plan and write nothing");
  command.add_flag("--json", flags.isJson, "Print the summary as JSON");
}

/// The names of all doubts.
static std::vector<std::string> doubtNames() {
  std::vector<std::string> names;
  for (const checkpoint::DoubtRow& row : checkpoint::kDoubts)
    names.emplace_back(row.name);
  return names;
}

void addAllowFlag(CLI::App& command, std::vector<std::string>& names) {
  command
      .add_option("--allow", names,
                  fmt::format("Go on despite problems that would stop the command: {}",
                              fmt::join(doubtNames(), ", ")))
      ->delimiter(',')
      ->type_name("DOUBTS");
}

checkpoint::Doubts doubtsNamed(const std::vector<std::string>& names) {
  checkpoint::Doubts doubts;
  for (const std::string& name : names) {
    const checkpoint::DoubtRow* row = checkpoint::findDoubt(name);
    if (!row)
      throw CommandError(unknownName("doubt of --allow", name, doubtNames()), ExitCode::BadUsage);
    doubts.add(row->doubt);
  }
  return doubts;
}

Json jobOptions(const std::string& subcommand, Json options) {
  return {{"octavo", OCTAVO_VERSION}, {"command", subcommand}, {"options", std::move(options)}};
}

namespace {

double bitsPerWeight(std::uint64_t bytes, std::uint64_t elements) {
  return elements > 0 ? 8.0 * static_cast<double>(bytes) / static_cast<double>(elements) : 0;
}

struct Total {
  std::uint64_t weights = 0, elements = 0, before = 0, after = 0;
  void add(const LayerChange& change) {
    ++weights;
    elements += change.elements;
    before += change.bytesBefore;
    after += change.bytesAfter;
  }
};

/// A note about accuracy; empty if there is none.
std::string_view accuracyText(checkpoint::Accuracy accuracy) {
  switch (accuracy) {
  case checkpoint::Accuracy::Unsaid:
    return "";
  case checkpoint::Accuracy::Exact:
    return "exact";
  case checkpoint::Accuracy::RoundedDivisor:
    return "rounded divisor";
  case checkpoint::Accuracy::Requantized:
    return "requantized";
  }
  return "";
}

/// A summary of the weights, grouped by their formats before and after.
std::string changesText(const Rewrite& rewrite) {
  std::map<std::tuple<std::string, std::string, std::string>, Total> totals;
  bool saysAccuracy = false;
  for (const LayerChange& change : rewrite.changes) {
    totals[{change.from, change.to, std::string(accuracyText(change.accuracy))}].add(change);
    saysAccuracy |= change.accuracy != checkpoint::Accuracy::Unsaid;
  }
  TextTable table = {{"from", "to", "weights", "values", "before", "after", "bits per value"}};
  if (saysAccuracy)
    table.front().push_back("accuracy");
  for (const auto& [kind, total] : totals) {
    const auto& [from, to, accuracy] = kind;
    table.push_back({from, to, std::to_string(total.weights), std::to_string(total.elements),
                     bytesText(total.before), bytesText(total.after),
                     fmt::format("{:.3g}", bitsPerWeight(total.after, total.elements))});
    if (saysAccuracy)
      table.back().push_back(accuracy);
  }
  return totals.empty() ? "no weight changes\n" : plainText(table);
}

/// Lists each weight and each shard of a plan.
std::string planText(const Rewrite& rewrite) {
  TextTable weights = {{"weight", "from", "to", "before", "after"}};
  for (const LayerChange& change : rewrite.changes)
    weights.push_back({printable(change.name), change.from, change.to,
                       bytesText(change.bytesBefore), bytesText(change.bytesAfter)});
  TextTable shards = {{"shard", "tensors", "size"}};
  for (const checkpoint::PlannedShard& shard : rewrite.job.shards)
    shards.push_back(
        {shard.name, std::to_string(shard.tensors().size()), bytesText(shard.bytes())});
  return plainText(weights) + "\n" + plainText(shards);
}

/// Lists the weights that are not changed: one line for each reason, with a few names.
std::string leftText(const Rewrite& rewrite) {
  constexpr std::size_t kNames = 3;
  std::map<std::string, std::vector<std::string>> byReason;
  for (const checkpoint::LeftAlone& left : rewrite.left)
    byReason[left.why].push_back(printable(left.name));
  std::string text;
  for (auto& [why, names] : byReason) {
    const std::size_t count = names.size();
    names.resize(std::min(count, kNames));
    text += fmt::format("left: {} ({}): {}{}\n", count, why, fmt::join(names, ", "),
                        count > kNames ? ", ..." : "");
  }
  return text;
}

std::string notesText(const Rewrite& rewrite) {
  std::string text;
  for (const checkpoint::Finding& note : rewrite.notes)
    text += fmt::format(
        "{}: {}{}; {}{}\n", note.severity == checkpoint::Severity::Note ? "note" : "warning",
        note.tensor.empty() ? "" : printable(note.tensor) + ": ", printable(note.what), note.why,
        note.fix.empty() ? "" : fmt::format(" ({})", note.fix));
  return text;
}

std::string numberText(const Json& number) {
  if (number.is_number_integer())
    return std::to_string(number.get<std::int64_t>());
  return number.is_number() ? fmt::format("{:.4g}", number.get<double>()) : "-";
}

/// Prints the steps' reports of each weight's loss. Steps of one job report under the same keys.
std::string lossesText(const std::vector<Json>& reports) {
  if (reports.empty())
    return "";
  TextTable table(1);
  for (const auto& [key, value] : reports.front().items()) {
    std::string heading = key == "name" ? "weight" : key;
    std::ranges::replace(heading, '_', ' ');
    table.front().push_back(std::move(heading));
  }
  for (const Json& report : reports) {
    std::vector<std::string>& row = table.emplace_back();
    for (const auto& [key, value] : report.items())
      row.push_back(value.is_string() ? printable(value.get<std::string>()) : numberText(value));
  }
  return plainText(table) + "\n";
}

Json document(const Rewrite& rewrite, const RewriteFlags& flags) {
  Json changes = Json::array(), left = Json::array(), notes = Json::array(), shards = Json::array();
  Total total;
  for (const LayerChange& change : rewrite.changes) {
    total.add(change);
    changes.push_back({{"name", change.name},
                       {"from", change.from},
                       {"to", change.to},
                       {"elements", change.elements},
                       {"bytes_before", change.bytesBefore},
                       {"bytes_after", change.bytesAfter},
                       {"accuracy", accuracyText(change.accuracy)}});
  }
  for (const checkpoint::LeftAlone& weight : rewrite.left)
    left.push_back({{"name", weight.name}, {"why", weight.why}});
  for (const checkpoint::Finding& note : rewrite.notes)
    notes.push_back({{"rule", note.rule.text()},
                     {"tensor", note.tensor},
                     {"what", note.what},
                     {"why", note.why},
                     {"fix", note.fix}});
  for (const checkpoint::PlannedShard& shard : rewrite.job.shards)
    shards.push_back(
        {{"name", shard.name}, {"tensors", shard.tensors().size()}, {"bytes", shard.bytes()}});
  return {{"input", flags.input},
          {"output", flags.output},
          {"dry_run", flags.isDryRun},
          {"bytes_before", total.before},
          {"bytes_after", total.after},
          {"bits_per_value", bitsPerWeight(total.after, total.elements)},
          {"weights", changes},
          {"left", left},
          {"notes", notes},
          {"shards", shards}};
}

std::string interruptionText(const std::string& output) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(output) / checkpoint::kJobFile, ignored)
             ? fmt::format("interrupted; the same command continues from what is in {}",
                           printable(output))
             : "interrupted before the first shard was written; nothing was left behind";
}

} // namespace

void runRewrite(tl::expected<Rewrite, checkpoint::Error> planned, const RewriteFlags& flags,
                const std::string& what) {
  if (!planned)
    throw CommandError(planned.error().message(), ExitCode::BadInput);
  Rewrite& rewrite = *planned;
  const checkpoint::Folder& source = *rewrite.job.source;
  if (!source.isSingleFile() && source.config().is_null())
    rewrite.notes.push_back(checkpoint::finding(
        "missing-model-configuration", "", "",
        "the input has no config.json, so the output's does not describe the model"));
  if (flags.isDryRun) {
    if (flags.isJson)
      printText(jsonText(document(rewrite, flags)));
    else
      printText(fmt::format("{}\n{}{}{}{} would be written\n", planText(rewrite),
                            changesText(rewrite), leftText(rewrite), notesText(rewrite),
                            bytesText(rewrite.job.bytes())));
    return;
  }
  double seconds = 0;
  const auto result = [&] {
    const Interruption interruption;
    Progress progress(what, rewrite.job.bytes());
    checkpoint::WorkSettings work = workSettings(flags.work);
    work.progress = [&](std::uint64_t bytes) { progress.add(bytes); };
    work.isInterrupted = Interruption::isAsked;
    auto done = runJob(rewrite.job, flags.output, work);
    seconds = progress.seconds();
    return done;
  }();
  if (!result && Interruption::isAsked())
    throw CommandError(interruptionText(flags.output), ExitCode::Interrupted);
  if (!result)
    throw CommandError(result.error().message(), ExitCode::BadInput);
  if (flags.isJson) {
    Json json = document(rewrite, flags);
    json["bytes_written"] = result->bytesWritten;
    json["shards_reused"] = result->shardsReused;
    json["seconds"] = seconds;
    json["losses"] = result->reports;
    printText(jsonText(json));
    return;
  }
  printText(fmt::format("{}{}{}{}", lossesText(result->reports), changesText(rewrite),
                        leftText(rewrite), notesText(rewrite)));
  const std::string reused =
      result->shardsReused == 0
          ? ""
          : fmt::format("; {} shards were there from an earlier run", result->shardsReused);
  printText(fmt::format(
      "{} in {} shards written in {:.1f} s, {:.0f} MB/s{}\n", bytesText(result->bytesWritten),
      rewrite.job.shards.size() - result->shardsReused, seconds,
      static_cast<double>(result->bytesWritten) / 1e6 / std::max(seconds, 1e-3), reused));
}

} // namespace octavo::tools
