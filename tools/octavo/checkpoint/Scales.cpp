// octavo checkpoint scales: shows, extracts and inserts the scales that readers use at run time,
// for key-value caches and static activations, with their sources
// (docs/commands/checkpoint-scales.md).

#include "tools/octavo/Paths.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/SideFile.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/KvScales/ScaleTiers.h"
#include "octavo/Checkpoint/ModuleNames/AttentionModules.h"
#include "octavo/Checkpoint/ScaleCheck.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace octavo::tools {

namespace {

using checkpoint::Folder;
using checkpoint::Inventory;
using checkpoint::Json;
using checkpoint::Layout;
using checkpoint::ScaleChange;
using checkpoint::ScaleTier;
using checkpoint::StoredScale;
using checkpoint::TieredScale;

struct ScalesFlags {
  std::string path, scales, output;
  int ranks = 1;
  bool isJson = false, intoCheckpoint = false;
};

/// An open checkpoint and its resolved scales.
struct Opened {
  Folder folder;
  const Layout* layout;
  Inventory inventory;
  std::vector<StoredScale> file;
  std::vector<TieredScale> scales;
};

std::unique_ptr<Opened> open(const ScalesFlags& flags) {
  auto folder = Folder::open(flags.path);
  if (!folder)
    throw CommandError(folder.error().message(), ExitCode::BadInput);
  checkOutputs(*folder);
  auto opened = std::make_unique<Opened>(Opened{std::move(*folder), nullptr, {}, {}, {}});
  checkpoint::Findings findings; // lint's business
  opened->layout = checkpoint::detectLayout(opened->folder, findings).layout;
  opened->inventory = opened->layout->read(opened->folder, findings);
  if (!flags.scales.empty()) {
    auto file = checkpoint::readScalesFor(opened->folder, opened->inventory, flags.scales);
    if (!file)
      throw CommandError(file.error().message(), ExitCode::BadInput);
    opened->file = std::move(*file);
  }
  auto scales = checkpoint::resolveScales(opened->folder, opened->inventory, opened->file);
  if (!scales)
    throw CommandError(scales.error().message(), ExitCode::BadInput);
  opened->scales = std::move(*scales);
  return opened;
}

std::string valuesText(const std::vector<float>& values) {
  if (values.empty())
    return "-";
  const auto [least, greatest] = std::ranges::minmax(values);
  return values.size() == 1 ? fmt::format("{:.6g}", least)
                            : fmt::format("{:.6g} to {:.6g} ({})", least, greatest, values.size());
}

/// Reports default scales, on stderr, so that it is seen wherever the result goes.
void reportDefaults(const std::vector<TieredScale>& scales) {
  const auto n = std::ranges::count(scales, ScaleTier::Default, &TieredScale::tier);
  if (n > 0)
    fmt::print(stderr,
               "octavo: {} of {} are neither in the checkpoint nor in a file: readers use 1.0\n", n,
               countText(scales.size(), "scale"));
}

/// Reports scales that the checkpoint has under two names with two values.
void reportRivals(const std::vector<TieredScale>& scales) {
  for (const TieredScale& scale : scales)
    if (!scale.rival.empty())
      fmt::print(stderr,
                 "octavo: warning: {} and {} have different values: which one counts depends on "
                 "the reader\n",
                 printable(scale.rival), printable(scale.source));
}

/// Reports scales of the scale file that are not used at run time, mostly those of weights.
void reportUnused(const Opened& opened) {
  std::size_t n = 0;
  for (const StoredScale& stored : opened.file)
    n += std::ranges::find(opened.scales, checkpoint::canonicalScaleNames(stored.name).front(),
                           &TieredScale::name) == opened.scales.end();
  if (n > 0)
    fmt::print(stderr, "octavo: {} of the scale file {} not used at run time, and {} left out\n",
               countText(n, "scale"), n == 1 ? "is" : "are", n == 1 ? "is" : "are");
}

/// The fault of a scale, by lint's name; empty if the scale is usable.
std::string_view doubtAbout(const TieredScale& scale) {
  for (float value : scale.values)
    if (const auto doubt = checkpoint::doubtOf(value))
      return checkpoint::rowOf(*doubt).name;
  return "";
}

void reportDoubts(const std::vector<TieredScale>& scales) {
  const auto n = std::ranges::count_if(
      scales, [](const TieredScale& scale) { return !doubtAbout(scale).empty(); });
  if (n > 0)
    fmt::print(stderr,
               "octavo: warning: {} of {} cannot be used: a scale is a positive, finite number\n",
               n, countText(scales.size(), "scale"));
}

void show(const ScalesFlags& flags) {
  const auto opened = open(flags);
  if (flags.isJson) {
    Json scales = Json::array();
    for (const TieredScale& scale : opened->scales)
      scales.push_back({{"name", scale.name},
                        {"values", scale.values},
                        {"tier", checkpoint::scaleTierName(scale.tier)},
                        {"source", scale.source},
                        {"rival", scale.rival},
                        {"doubt", doubtAbout(scale)}});
    printText(jsonText({{"path", flags.path},
                        {"kv_cache_format", opened->inventory.kvCacheFormat},
                        {"scales", scales}}));
  } else {
    TextTable table = {{"scale", "value", "from", "under the name"}};
    for (const TieredScale& scale : opened->scales)
      table.push_back(
          {printable(scale.name), valuesText(scale.values),
           std::string(checkpoint::scaleTierName(scale.tier)),
           (scale.source.empty() ? "-" : printable(scale.source)) +
               (doubtAbout(scale).empty() ? "" : fmt::format("  ({})", doubtAbout(scale)))});
    printText(opened->scales.empty() ? "no attention module and no static activation scale\n"
                                     : plainText(table));
  }
  reportUnused(*opened);
  reportRivals(opened->scales);
  reportDoubts(opened->scales);
  reportDefaults(opened->scales);
}

/// The scales that are not defaults. Throws CommandError if a scale could not be applied again.
std::vector<StoredScale> known(const Opened& opened) {
  std::vector<StoredScale> result;
  for (const TieredScale& scale : opened.scales) {
    if (scale.tier == ScaleTier::Default)
      continue;
    if (!scale.rival.empty())
      throw CommandError(
          checkpoint::Error{.file = opened.folder.path().string(),
                            .problem = "has two values for the same scale",
                            .tensor = scale.rival,
                            .expected = fmt::format("{}, as {} says", valuesText(scale.values),
                                                    checkpoint::inQuotes(scale.source)),
                            .fix = "find out which one is right, and store it with `octavo "
                                   "checkpoint scales apply --into-checkpoint`"}
              .message(),
          ExitCode::BadInput);
    // Scales of a scale file are checked when it is read; this one is from the checkpoint.
    if (auto usable = checkpoint::checkScale(opened.folder.path(), scale.source, scale.values);
        !usable) {
      usable.error().fix = "calibrate again, and store it with `octavo checkpoint scales apply`";
      throw CommandError(usable.error().message(), ExitCode::BadInput);
    }
    StoredScale stored = checkpoint::scalarScale(scale.name, scale.values.front());
    if (scale.values.size() != 1) { // one for each head
      stored.shape = {static_cast<std::int64_t>(scale.values.size()), 1, 1};
      stored.bytes.resize(scale.values.size() * sizeof(float));
      std::memcpy(stored.bytes.data(), scale.values.data(), stored.bytes.size());
    }
    result.push_back(std::move(stored));
  }
  return result;
}

/// One scale for each layer, for both keys and values: the larger one, which clips neither.
checkpoint::KvScaleJson jsonOf(const Opened& opened, const ScalesFlags& flags) {
  checkpoint::KvScaleJson json;
  const Json& config = opened.folder.config();
  if (config.is_object() && config.contains("model_type") && config["model_type"].is_string())
    json.modelType = config["model_type"].get<std::string>();
  std::map<std::string, std::size_t> rows; // by module
  std::size_t unequal = 0;
  for (const TieredScale& scale : opened.scales) {
    const std::size_t dot = scale.name.rfind('.');
    const std::string last = scale.name.substr(dot + 1);
    if (last != "k_scale" && last != "v_scale")
      continue;
    if (scale.tier == ScaleTier::Default)
      throw CommandError(
          fmt::format(
              "{}: {} has no value, but the JSON form must list every layer; write the safetensors "
              "form (-o {}), which lists only the scales that exist",
              flags.path, scale.name,
              std::filesystem::path(flags.output).replace_extension("safetensors").string()),
          ExitCode::BadInput);
    const float value = *std::ranges::max_element(scale.values);
    const auto [row, isNew] = rows.emplace(scale.name.substr(0, dot), json.layers.size());
    if (isNew) {
      json.layers.push_back(value);
    } else {
      unequal += json.layers[row->second] != value;
      json.layers[row->second] = std::max(json.layers[row->second], value);
    }
  }
  if (unequal > 0)
    fmt::print(stderr,
               "octavo: the JSON form has one scale per layer; in {} the larger of the key's and "
               "the value's is used for both\n",
               countText(unequal, "layer"));
  return json;
}

/// Throws CommandError if the file's name does not tell its kind.
void checkEnding(const ScalesFlags& flags) {
  const std::string ending = std::filesystem::path(flags.output).extension();
  if (ending != ".json" && ending != ".safetensors")
    throw CommandError(fmt::format("-o {}: expected a name that ends in .safetensors, or in .json "
                                   "for old vLLM",
                                   flags.output),
                       ExitCode::BadUsage);
}

/// Whether the file is a scale file of the kind that its name tells.
bool isScaleFile(const std::filesystem::path& file) {
  return file.extension() == ".json" ? checkpoint::readKvScaleJson(file).has_value()
                                     : checkpoint::readScaleFile(file).has_value();
}

/// Writes the scales of all tiers but the default.
void writeSideFile(const Opened& opened, const ScalesFlags& flags) {
  const bool asJson = std::filesystem::path(flags.output).extension() == ".json";
  const std::vector<StoredScale> scales = known(opened);
  if (scales.empty())
    throw CommandError(flags.path + ": the checkpoint has no scales of a key-value cache or of "
                                    "static activations; nothing was written",
                       ExitCode::BadInput);
  const std::filesystem::path file = fileBehind(flags.output);
  const auto written = asJson
                           ? checkpoint::writeKvScaleJson(file, jsonOf(opened, flags), flags.ranks)
                           : checkpoint::writeScaleFile(file, scales);
  if (!written)
    throw CommandError(written.error().message(), ExitCode::BadInput);
  if (flags.isJson)
    printText(jsonText({{"output", flags.output}, {"scales", scales.size()}}));
  else
    printText(fmt::format("{}: {}\n", printable(flags.output), countText(scales.size(), "scale")));
  reportUnused(opened);
  reportDefaults(opened.scales);
}

std::string_view kindName(ScaleChange::Kind kind) {
  switch (kind) {
  case ScaleChange::Kind::Replaced:
    return "replaced";
  case ScaleChange::Kind::Added:
    return "added";
  case ScaleChange::Kind::Removed:
    return "removed";
  case ScaleChange::Kind::Same:
    return "same";
  }
  return "";
}

void applyIntoCheckpoint(const Opened& opened, const ScalesFlags& flags) {
  const auto changes =
      checkpoint::applyScales(opened.folder, *opened.layout, opened.inventory, opened.file);
  if (!changes)
    throw CommandError(changes.error().message(), ExitCode::BadInput);
  if (flags.isJson) {
    Json list = Json::array();
    for (const ScaleChange& change : *changes)
      list.push_back({{"tensor", change.tensor},
                      {"shard", change.shard},
                      {"change", kindName(change.kind)},
                      {"before", change.before},
                      {"after", change.after},
                      {"exact", change.isExact},
                      {"changes_weight", change.changesWeight}});
    printText(jsonText({{"path", flags.path}, {"changes", list}}));
  } else {
    TextTable table = {{"tensor", "", "before", "after", "shard"}};
    for (const ScaleChange& change : *changes)
      table.push_back({printable(change.tensor), std::string(kindName(change.kind)),
                       valuesText(change.before),
                       valuesText(change.after) + (change.isExact ? "" : ", rounded") +
                           (change.changesWeight ? ", of a weight" : ""),
                       printable(change.shard)});
    printText(plainText(table));
  }
  if (const auto n = std::ranges::count(*changes, true, &ScaleChange::changesWeight); n > 0)
    fmt::print(stderr,
               "octavo: warning: {} replaced {} of a weight, not of run time: the weight's values "
               "have changed\n",
               countText(n, "scale"), n == 1 ? "is" : "are");
  if (opened.inventory.kvCacheFormat.empty())
    fmt::print(stderr, "octavo: the configuration does not ask for an FP8 key-value cache: readers "
                       "use its scales only when told to (vLLM: --kv-cache-dtype fp8)\n");
  reportDefaults(opened.scales);
}

void apply(const ScalesFlags& flags) {
  if (flags.intoCheckpoint == !flags.output.empty())
    throw CommandError("apply needs one of -o FILE (a side file) and --into-checkpoint",
                       ExitCode::BadUsage);
  if (!flags.intoCheckpoint)
    checkEnding(flags);
  const auto opened = open(flags);
  if (flags.intoCheckpoint)
    applyIntoCheckpoint(*opened, flags);
  else
    writeSideFile(*opened, flags);
}

constexpr const char* kTiers =
    R"(A scale comes from the scale file, else from the checkpoint, else it is 1.0.
)";
constexpr const char* kScalesExamples = R"(Examples:
  octavo checkpoint scales show model/
  octavo checkpoint scales show model/ --scales calibrated.safetensors
  octavo checkpoint scales extract model/ -o scales.safetensors
  octavo checkpoint scales extract model/ -o kv_cache_scales.json  # for old vLLM
  octavo checkpoint scales apply model/ --scales calibrated.safetensors --into-checkpoint)";

} // namespace

void addScalesCommand(CLI::App& group) {
  CLI::App* scales = group.add_subcommand(
      "scales", "Scales of key-value caches and static activations: show, extract, apply");
  scales->require_subcommand(1);
  scales->footer(std::string(kTiers) + kScalesExamples);
  auto flags = std::make_shared<ScalesFlags>();
  const auto add = [&](const char* name, const char* what) {
    CLI::App* command = scales->add_subcommand(name, what);
    readsPath(command->add_option("checkpoint", flags->path, "Folder, or one safetensors file")
                  ->required());
    command->add_flag("--json", flags->isJson, "As JSON");
    command->footer(kScalesExamples);
    return command;
  };
  constexpr const char* kScaleFile =
      "Scale file: safetensors with only scales, or old vLLM's kv_cache_scales.json";
  CLI::App* showing = add("show", "Show which tier each scale comes from");
  readsPath(showing->add_option("--scales", flags->scales, kScaleFile));
  showing->callback([flags] { show(*flags); });

  CLI::App* extracting = add("extract", "Write the checkpoint's scales to a file");
  writesPath(extracting->add_option("-o,--output", flags->output, "FILE.safetensors, or FILE.json")
                 ->required(),
             {.isEarlierOutput = isScaleFile});
  extracting->add_option("--ranks", flags->ranks, "Ranks of tensor parallelism in JSON")
      ->check(CLI::Range(1, 1024));
  extracting->callback([flags] {
    checkEnding(*flags);
    writeSideFile(*open(*flags), *flags);
  });

  CLI::App* applying = add("apply", "Apply the scales of a file over the checkpoint's");
  readsPath(applying->add_option("--scales", flags->scales, kScaleFile)->required());
  writesPath(
      applying->add_option("-o,--output", flags->output, "Write all known scales to a side file"),
      {.isEarlierOutput = isScaleFile});
  applying->add_flag("--into-checkpoint", flags->intoCheckpoint,
                     "Change the checkpoint; rewrites only the shards concerned");
  applying->add_option("--ranks", flags->ranks, "Ranks of tensor parallelism in JSON")
      ->check(CLI::Range(1, 1024));
  applying->callback([flags] { apply(*flags); });
}

} // namespace octavo::tools
