// octavo presets: the settings that reproduce the libraries that write scaled formats, and what
// they make of a few blocks.

#include "tools/octavo/Commands.h"
#include "tools/octavo/TextTable.h"

#include "octavo/Numerics/Preset.h"
#include "octavo/Numerics/Scaled.h"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

namespace octavo::tools {

namespace {

using format::ScaledFormat;
using numerics::Preset;
using numerics::Setting;

/// The formats of a row that exist, in the table's order.
std::vector<const ScaledFormat*> formatsOf(const Preset& preset) {
  std::vector<const ScaledFormat*> rows;
  for (const ScaledFormat& row : format::kScaledFormats)
    if (preset.appliesTo(row))
      rows.push_back(&row);
  return rows;
}

std::string formatNames(const Preset& preset) {
  std::vector<std::string_view> names;
  for (const ScaledFormat* row : formatsOf(preset))
    names.push_back(row->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<Setting> settingsOf(const Preset& preset) {
  std::vector<Setting> rows = numerics::settings(preset.options, *formatsOf(preset).front());
  rows.push_back({"ragged edge", std::string(numerics::raggedEdgeName(preset.ragged))});
  return rows;
}

std::string valueOf(const std::vector<Setting>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Setting::name);
  return row == rows.end() ? "-" : row->value;
}

/// The rows whose formats have scales of one kind, and the title of their tables.
struct Group {
  std::string_view title;
  bool (*holds)(const ScaledFormat& format);
};
constexpr Group kGroups[] = {
    {"Power-of-two scales (e8m0fnu)",
     [](const ScaledFormat& row) { return row.scale->specials == format::Specials::Scale; }},
    {"Narrow scales under an outer scale",
     [](const ScaledFormat& row) { return row.hasOuterScale; }},
    {"f32 scales", [](const ScaledFormat& row) { return *row.scale == format::element("f32"); }},
};

/// A row a preset, a column a setting that any of them has.
TextTable settingsTable(const Group& group) {
  std::vector<std::string> names;
  std::vector<const Preset*> rows;
  for (const Preset& preset : numerics::presets())
    if (group.holds(*formatsOf(preset).front())) {
      rows.push_back(&preset);
      for (const Setting& setting : settingsOf(preset))
        if (std::ranges::find(names, setting.name) == names.end())
          names.emplace_back(setting.name);
    }
  TextTable table = {{"preset", "formats"}};
  table.front().insert(table.front().end(), names.begin(), names.end());
  for (const Preset* preset : rows) {
    const std::vector<Setting> settings = settingsOf(*preset);
    table.push_back({std::string(preset->name), formatNames(*preset)});
    for (const std::string& name : names)
      table.back().push_back(valueOf(settings, name));
  }
  return table;
}

TextTable sourceTable(const Group& group) {
  TextTable table = {{"preset", "formats", "source", "where the owner's bytes are others"}};
  for (const Preset& preset : numerics::presets())
    if (group.holds(*formatsOf(preset).front()))
      table.push_back({std::string(preset.name), formatNames(preset), std::string(preset.source),
                       preset.differs.empty() ? "nowhere known" : std::string(preset.differs)});
  return table;
}

/// Blocks of one value each, in a tensor of their own.
struct Worked {
  std::string_view format;
  std::vector<float> amaxes;
};
const std::vector<Worked>& workedBlocks() {
  static const std::vector<Worked> rows = {
      {"mxfp8_e4m3", {150, 448, 449, 470, 500, 0x1p-140f, 0}},
      {"mxfp4", {6, 6.5f, 7, 7.5f, 0x1p-140f, 0}},
      {"nvfp4", {2688, 7, 3, 0.04f, 0x1p-12f, 0}},
      {"fp8_block", {448, 3, 1e-5f, 0}},
  };
  return rows;
}

std::string scaleText(const format::ElementFormat& scale, std::uint32_t code) {
  if (scale.isNarrow())
    return fmt::format("0x{:02X}", code);
  return fmt::format("{:.7g}", std::bit_cast<float>(code));
}

/// A row an amax, a column a preset; a cell is the code of the scale and what the value becomes.
TextTable workedTable(const Worked& worked) {
  const ScaledFormat& format = *format::findScaledFormat(worked.format);
  TextTable table = {{"amax"}};
  for (float amax : worked.amaxes)
    table.push_back({fmt::format("{:.4g}", amax)});
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(worked.amaxes.size())};
  for (std::string_view name : numerics::presetNames(format)) {
    table.front().emplace_back(name);
    const auto tensor =
        numerics::quantize(worked.amaxes, shape,
                           {format.element, format.scale, {1}, format.hasOuterScale},
                           numerics::findPreset(name, format)->options)
            .tensor;
    const std::vector<float> values = numerics::dequantize(tensor);
    for (std::size_t i = 0; i < values.size(); ++i)
      table[i + 1].push_back(
          fmt::format("{} {:.4g}", scaleText(*format.scale, tensor.scales[i]), values[i]));
  }
  return table;
}

std::string markdownPage() {
  std::string text;
  for (const Group& group : kGroups)
    text += fmt::format("### {}\n\n{}\n{}\n", group.title, markdownText(settingsTable(group)),
                        markdownText(sourceTable(group)));
  text += "### Worked values\n\nBlocks of one value: the code of the scale (an f32 scale's value), "
          "and what the value becomes.\n";
  for (const Worked& worked : workedBlocks())
    text += fmt::format("\n{}, blocks of one tensor:\n\n{}", worked.format,
                        markdownText(workedTable(worked)));
  return text;
}

std::string listPage() {
  TextTable table = {{"preset", "formats", "rule", "rounding", "zero block", "NaN", "Inf"}};
  for (const Preset& preset : numerics::presets()) {
    const std::vector<Setting> settings = settingsOf(preset);
    table.push_back({std::string(preset.name), formatNames(preset), valueOf(settings, "rule"),
                     valueOf(settings, "rounding"), valueOf(settings, "zero block"),
                     valueOf(settings, "NaN"), valueOf(settings, "Inf")});
  }
  return plainText(table) + "\n`octavo presets NAME` prints every setting of one.\n";
}

std::string detailPage(const std::vector<const Preset*>& rows) {
  std::string text;
  for (const Preset* preset : rows) {
    TextTable table = {{std::string(preset->name), formatNames(*preset)}};
    for (const Setting& setting : settingsOf(*preset))
      table.push_back({std::string(setting.name), setting.value});
    table.push_back({"source", std::string(preset->source)});
    if (!preset->differs.empty())
      table.push_back({"other there", std::string(preset->differs)});
    text += (text.empty() ? "" : "\n") + plainText(table);
  }
  return text;
}

/// "zero block" as a key: zero_block.
std::string keyOf(std::string_view name) {
  std::string key(name);
  for (char& letter : key)
    letter =
        letter == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return key;
}

using Json = nlohmann::ordered_json;

std::string jsonPage(const std::vector<const Preset*>& rows) {
  Json list = Json::array();
  for (const Preset* preset : rows) {
    Json formats = Json::array(), settings = Json::object();
    for (const ScaledFormat* row : formatsOf(*preset))
      formats.push_back(row->name);
    for (const Setting& setting : settingsOf(*preset))
      settings[keyOf(setting.name)] = setting.value;
    list.push_back({{"name", preset->name},
                    {"formats", formats},
                    {"settings", settings},
                    {"source", preset->source},
                    {"differs", preset->differs}});
  }
  return Json{{"presets", list}}.dump(2) + "\n";
}

struct PresetsOptions {
  std::string name;
  std::string format;
  bool json = false;
  bool markdown = false;
};

std::vector<const Preset*> chosen(const PresetsOptions& options) {
  std::vector<const Preset*> rows;
  std::vector<std::string> known, formats;
  for (const ScaledFormat& row : format::kScaledFormats)
    formats.emplace_back(row.name);
  const ScaledFormat* format = format::findScaledFormat(options.format);
  if (!options.format.empty() && !format)
    throw CommandError(unknownName("scaled format", options.format, formats), ExitCode::BadUsage);
  for (const Preset& preset : numerics::presets()) {
    if (format && !preset.appliesTo(*format))
      continue;
    if (std::ranges::find(known, preset.name) == known.end())
      known.emplace_back(preset.name);
    if (options.name.empty() || options.name == preset.name)
      rows.push_back(&preset);
  }
  if (rows.empty())
    throw CommandError(unknownName(format ? fmt::format("preset of {}", format->name) : "preset",
                                   options.name, known),
                       ExitCode::BadUsage);
  return rows;
}

} // namespace

void addPresetsCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "presets", "Print the settings that reproduce the libraries that quantize");
  auto options = std::make_shared<PresetsOptions>();
  command->add_option("name", options->name, "A preset: torchao-rceil, modelopt, ...");
  command->add_option("--format", options->format, "Only the rows of a scaled format");
  CLI::Option* json = command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--markdown", options->markdown, "All rows, as docs/scale-rules.md shows them")
      ->excludes(json);
  command->footer("Examples:\n"
                  "  octavo presets\n"
                  "  octavo presets compressed-tensors --format nvfp4\n"
                  "  octavo presets --json");
  command->callback([options] {
    const std::vector<const Preset*> rows = chosen(*options);
    const bool isDetail = !options->name.empty() || !options->format.empty();
    fmt::print("{}", options->json       ? jsonPage(rows)
                     : options->markdown ? markdownPage()
                     : isDetail          ? detailPage(rows)
                                         : listPage());
  });
}

} // namespace octavo::tools
