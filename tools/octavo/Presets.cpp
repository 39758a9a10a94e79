// octavo presets: prints the settings that reproduce other libraries' scaled formats, and their
// effect on a few blocks.

#include "tools/octavo/Commands.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Paths.h"
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
using numerics::PresetOnFormats;
using numerics::Setting;

std::string namesOf(const std::vector<const ScaledFormat*>& formats) {
  std::vector<std::string_view> names;
  for (const ScaledFormat* row : formats)
    names.push_back(row->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string valueOf(const std::vector<Setting>& rows, std::string_view name) {
  const auto row = std::ranges::find(rows, name, &Setting::name);
  return row == rows.end() ? "-" : row->value;
}

/// The presets whose formats have one kind of scale, and the title of their tables.
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

/// One row for each preset of the group, one column for each setting that any of them has.
TextTable settingsTable(const Group& group) {
  std::vector<std::string> names;
  std::vector<PresetOnFormats> rows;
  for (PresetOnFormats& row : numerics::presetsOnFormats())
    if (group.holds(*row.formats.front())) {
      for (const Setting& setting : row.settings)
        if (std::ranges::find(names, setting.name) == names.end())
          names.emplace_back(setting.name);
      rows.push_back(std::move(row));
    }
  TextTable table = {{"preset", "formats"}};
  table.front().insert(table.front().end(), names.begin(), names.end());
  for (const PresetOnFormats& row : rows) {
    table.push_back({std::string(row.preset->name), namesOf(row.formats)});
    for (const std::string& name : names)
      table.back().push_back(valueOf(row.settings, name));
  }
  return table;
}

TextTable sourceTable(const Group& group) {
  TextTable table = {
      {"preset", "formats", "source", "input types", "where the owner's bytes are others"}};
  for (const Preset& preset : numerics::presets()) {
    std::vector<const ScaledFormat*> formats;
    for (const ScaledFormat& format : format::kScaledFormats)
      if (preset.appliesTo(format))
        formats.push_back(&format);
    if (group.holds(*formats.front()))
      table.push_back({std::string(preset.name), namesOf(formats), std::string(preset.source),
                       std::string(preset.inputs),
                       preset.differs.empty() ? "nowhere known" : std::string(preset.differs)});
  }
  return table;
}

/// Blocks of equal values, each in its own tensor, and the type of the values.
struct Worked {
  std::string_view format;
  std::vector<float> amaxes;
  std::string_view input = "f32";
};
const std::vector<Worked>& workedBlocks() {
  static const std::vector<Worked> rows = {
      {"mxfp8_e4m3", {150, 448, 449, 470, 500, 0x1p-140f, 0}},
      {"mxfp4", {6, 6.5f, 7, 7.5f, 0x1p-140f, 0}},
      {"nvfp4", {2688, 7, 3, 0.04f, 0x1p-12f, 0}},
      {"fp8_block", {448, 3, 1e-5f, 0}},
      {"fp8_row", {448, 3, 0x1p-16f, 0}, "bf16"},
  };
  return rows;
}

std::string scaleText(const format::ElementFormat& scale, std::uint32_t code) {
  if (scale.isNarrow())
    return fmt::format("0x{:02X}", code);
  return fmt::format("{:.7g}", std::bit_cast<float>(code));
}

/// One row for each amax, one column for each preset. A cell has the code of the scale and the
/// quantized value.
TextTable workedTable(const Worked& worked) {
  const ScaledFormat& format = *format::findScaledFormat(worked.format);
  TextTable table = {{"amax"}};
  for (float amax : worked.amaxes)
    table.push_back({fmt::format("{:.4g}", amax)});
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(worked.amaxes.size())};
  for (std::string_view name : numerics::presetNames(format)) {
    table.front().emplace_back(name);
    numerics::QuantizeOptions options = numerics::findPreset(name, format)->options;
    options.input = format::findElementFormat(worked.input);
    const auto tensor =
        numerics::quantize(worked.amaxes, shape,
                           {format.element, format.scale, {1}, format.hasOuterScale}, options)
            .tensor;
    const std::vector<float> values = numerics::dequantize(tensor);
    for (std::size_t i = 0; i < values.size(); ++i)
      table[i + 1].push_back(
          fmt::format("{} {:.4g}", scaleText(*format.scale, tensor.scales[i]), values[i]));
  }
  return table;
}

std::string markdownOfPresets() {
  std::string text;
  for (const Group& group : kGroups)
    text += fmt::format("### {}\n\n{}\n{}\n", group.title, markdownText(settingsTable(group)),
                        markdownText(sourceTable(group)));
  text += "### Worked values\n\nBlocks of one value: the code of the scale (an f32 scale's value), "
          "and what the value becomes.\n";
  for (const Worked& worked : workedBlocks())
    text += fmt::format("\n{}, blocks of one tensor{}:\n\n{}", worked.format,
                        worked.input == "f32" ? "" : fmt::format(" of {}", worked.input),
                        markdownText(workedTable(worked)));
  return text;
}

std::string listPage() {
  TextTable table = {{"preset", "formats", "rule", "rounding", "zero block", "NaN", "Inf"}};
  const Preset* last = nullptr;
  for (const PresetOnFormats& row : numerics::presetsOnFormats()) {
    std::vector<std::string> line{std::string(row.preset->name), namesOf(row.formats)};
    for (auto name = table.front().begin() + 2; name != table.front().end(); ++name)
      line.push_back(valueOf(row.settings, *name));
    // Rows of one preset often differ only in settings that this table does not show.
    if (row.preset == last && std::equal(line.begin() + 2, line.end(), table.back().begin() + 2))
      table.back()[1] += ", " + line[1];
    else
      table.push_back(std::move(line));
    last = row.preset;
  }
  return plainText(table) + "\n`octavo presets NAME` prints every setting of one.\n";
}

std::string detailPage(const std::vector<PresetOnFormats>& rows) {
  std::string text;
  for (const auto& [preset, formats, settings] : rows) {
    TextTable table = {{std::string(preset->name), namesOf(formats)}};
    for (const Setting& setting : settings)
      table.push_back({std::string(setting.name), setting.value});
    table.push_back({"source", std::string(preset->source)});
    table.push_back({"input types", std::string(preset->inputs)});
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

std::string jsonPage(const std::vector<PresetOnFormats>& rows) {
  Json list = Json::array();
  for (const auto& [preset, formats, settings] : rows) {
    Json names = Json::array(), values = Json::object();
    for (const ScaledFormat* format : formats)
      names.push_back(format->name);
    for (const Setting& setting : settings)
      values[keyOf(setting.name)] = setting.value;
    list.push_back({{"name", preset->name},
                    {"formats", names},
                    {"settings", values},
                    {"source", preset->source},
                    {"inputs", preset->inputs},
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

std::vector<PresetOnFormats> chosen(const PresetsOptions& options) {
  std::vector<PresetOnFormats> rows;
  std::vector<std::string> known;
  const ScaledFormat* format = options.format.empty() ? nullptr : scaledFormatNamed(options.format);
  if (format) // the preset has the same rows for blocks of another size
    format = format::findScaledFormat(format->rowName());
  for (PresetOnFormats& row : numerics::presetsOnFormats()) {
    if (format && std::ranges::find(row.formats, format) == row.formats.end())
      continue;
    const std::string name(row.preset->name);
    if (std::ranges::find(known, name) == known.end())
      known.push_back(name);
    if (options.name.empty() || options.name == name)
      rows.push_back(std::move(row));
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
      "presets", "Print the settings that reproduce other libraries' quantization");
  auto options = std::make_shared<PresetsOptions>();
  takesNoPath(command->add_option("name", options->name, "A preset: torchao-rceil, modelopt, ..."));
  takesNoPath(command->add_option(
      "--format", options->format,
      fmt::format("Only presets of this scaled format: {}", fmt::join(scaledFormatNames(), ", "))));
  CLI::Option* json = command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--markdown", options->markdown, "Print all rows, as in docs/scale-rules.md")
      ->excludes(json);
  command->footer("Examples:\n"
                  "  octavo presets\n"
                  "  octavo presets compressed-tensors --format nvfp4\n"
                  "  octavo presets --json");
  command->callback([options] {
    const std::vector<PresetOnFormats> rows = chosen(*options);
    const bool isDetail = !options->name.empty() || !options->format.empty();
    printText(options->json       ? jsonPage(rows)
              : options->markdown ? markdownOfPresets()
              : isDetail          ? detailPage(rows)
                                  : listPage());
  });
}

} // namespace octavo::tools
