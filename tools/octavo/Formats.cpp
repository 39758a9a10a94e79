// octavo formats: the element formats and the scaled formats, as the tables of octavo/Format say
// them.

#include "tools/octavo/Commands.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace octavo::tools {

namespace {

using format::ElementFormat;
using format::ScaledFormat;

/// A table as text: the first row is its head.
using Table = std::vector<std::vector<std::string>>;

/// The matrix for which bits per value are printed: scales a tensor or a row then weigh little.
constexpr std::int64_t kMatrix[] = {4096, 4096};

std::string orNone(std::string_view text) { return text.empty() ? "-" : std::string(text); }

std::string yesOrNone(bool holds) { return holds ? "yes" : "-"; }

std::string codeText(const ElementFormat& row, std::optional<std::uint64_t> code) {
  return code ? fmt::format("0x{:0{}X}", *code, (row.width() + 3) / 4) : "-";
}

/// Powers of two that are not short in decimal as 2^k, others in decimal.
std::string valueText(double value) {
  int exponent;
  if (std::frexp(value, &exponent) == 0.5 && (value < 1 || value > 1e6))
    return fmt::format("2^{}", exponent - 1);
  return fmt::format("{:.7g}", value);
}

/// Fields of a code, most significant first: S1 E4 M3.
std::string layoutText(const ElementFormat& row) {
  if (row.isInteger())
    return fmt::format("two's complement, {} below the point", row.bias);
  return fmt::format("{}E{} M{}", row.isSigned() ? "S1 " : "", row.exponentBits,
                     row.trailingSignificandBits);
}

Table elementTable() {
  Table table = {{"name", "bits", "fields", "bias", "max", "min normal", "min subnormal", "Inf",
                  "NaN", "-0", "source"}};
  for (const ElementFormat& row : format::kElementFormats)
    table.push_back({std::string(row.name), std::to_string(row.width()), layoutText(row),
                     std::to_string(row.bias), valueText(numerics::maxValue(row)),
                     valueText(numerics::minNormal(row)),
                     row.hasSubnormals() ? valueText(numerics::minPositive(row)) : "-",
                     codeText(row, row.infCode()), codeText(row, row.nanCode()),
                     yesOrNone(row.hasNegativeZero()), std::string(row.source)});
  return table;
}

Table spellingTable() {
  Table table = {{"name", "MLIR", "NumPy, ml_dtypes", "torch", "safetensors", "OCP"}};
  for (const ElementFormat& row : format::kElementFormats)
    table.push_back({std::string(row.name), orNone(row.mlir), orNone(row.numpy), orNone(row.torch),
                     orNone(row.safetensors), orNone(row.ocp)});
  return table;
}

std::string extentText(std::int64_t extent) {
  return extent == format::kWholeAxis ? "all" : std::to_string(extent);
}

Table scaledTable() {
  Table table = {{"name", "element", "scale", "block", "outer scale", "bits per value",
                  "scale rule", "activations", "source"}};
  for (const ScaledFormat& row : format::kScaledFormats)
    table.push_back(
        {std::string(row.name), std::string(row.element->name), std::string(row.scale->name),
         fmt::format("{} x {}", extentText(row.across), extentText(row.along)),
         row.hasOuterScale ? "f32" : "-", fmt::format("{:.4g}", row.bitsPerValue(kMatrix, 1)),
         std::string(format::scaleRuleName(row.rule)), std::string(row.activation),
         std::string(row.source)});
  return table;
}

std::vector<std::size_t> columnWidths(const Table& table) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (const auto& row : table)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  return widths;
}

std::string plainText(const Table& table) {
  const std::vector<std::size_t> widths = columnWidths(table);
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column)
      line += fmt::format("{:<{}}  ", row[column], widths[column]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string markdown(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(table[i], " | "));
    if (i == 0)
      for (std::size_t column = 0; column < table[i].size(); ++column)
        text += column + 1 < table[i].size() ? "|---" : "|---|\n";
  }
  return text;
}

constexpr const char* kBlockNote =
    "A block is rows x columns of a matrix whose columns a product contracts; \"all\" is the whole "
    "axis. Bits per value count the scales, for a 4096 x 4096 matrix.";

std::string plainPage() {
  return fmt::format("Element formats\n\n{}\nSpellings\n\n{}\nScaled formats\n\n{}\n{}\n",
                     plainText(elementTable()), plainText(spellingTable()),
                     plainText(scaledTable()), kBlockNote);
}

std::string markdownPage() {
  return fmt::format(
      "# Formats\n\n"
      "Generated by `octavo formats --markdown` from the tables in "
      "[`octavo/Format`](../octavo/Format); a test holds that it is current. "
      "[semantics.md](semantics.md) says how values are rounded and scaled.\n\n"
      "## Element formats\n\n"
      "S sign, E exponent and M trailing significand bits. Inf and NaN are the codes that those "
      "values are encoded as. A format without subnormals has none there.\n\n{}\n"
      "## Spellings\n\n"
      "Upper and lower case are alike, except that octavo's own names come first: `e4m3` is the "
      "IEEE-like format, OCP's E4M3 is `e4m3fn`. torch's `float4_e2m1fn_x2` holds two values a "
      "byte.\n\n{}\n"
      "## Scaled formats\n\n"
      "`value = element * scale`, times the outer scale where there is one. {}\n\n{}",
      markdown(elementTable()), markdown(spellingTable()), kBlockNote, markdown(scaledTable()));
}

using Json = nlohmann::ordered_json;

Json spellingOrNull(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json codeOrNull(std::optional<std::uint64_t> code) { return code ? Json(*code) : Json(); }

Json elementJson(const ElementFormat& row) {
  return {{"name", row.name},
          {"bits", row.width()},
          {"signBits", row.isSigned() ? 1 : 0},
          {"exponentBits", row.exponentBits},
          {"trailingSignificandBits", row.trailingSignificandBits},
          {"bias", row.bias},
          {"max", numerics::maxValue(row)},
          {"minNormal", numerics::minNormal(row)},
          {"minSubnormal", row.hasSubnormals() ? Json(numerics::minPositive(row)) : Json()},
          {"maxCode", row.maxCode()},
          {"infCode", codeOrNull(row.infCode())},
          {"nanCode", codeOrNull(row.nanCode())},
          {"hasNegativeZero", row.hasNegativeZero()},
          {"mlir", spellingOrNull(row.mlir)},
          {"numpy", spellingOrNull(row.numpy)},
          {"torch", spellingOrNull(row.torch)},
          {"safetensors", spellingOrNull(row.safetensors)},
          {"ocp", spellingOrNull(row.ocp)},
          {"source", row.source}};
}

Json extentJson(std::int64_t extent) {
  return extent == format::kWholeAxis ? Json("all") : Json(extent);
}

Json scaledJson(const ScaledFormat& row) {
  return {{"name", row.name},
          {"element", row.element->name},
          {"scale", row.scale->name},
          {"block", {extentJson(row.across), extentJson(row.along)}},
          {"hasOuterScale", row.hasOuterScale},
          {"bitsPerValue", row.bitsPerValue(kMatrix, 1)},
          {"scaleRule", format::scaleRuleName(row.rule)},
          {"activations", row.activation},
          {"source", row.source}};
}

std::string jsonPage() {
  Json elements = Json::array(), scaled = Json::array();
  std::ranges::transform(format::kElementFormats, std::back_inserter(elements), elementJson);
  std::ranges::transform(format::kScaledFormats, std::back_inserter(scaled), scaledJson);
  return Json{{"elementFormats", elements}, {"scaledFormats", scaled}}.dump(2) + "\n";
}

struct FormatsOptions {
  bool json = false;
  bool markdown = false;
};

} // namespace

void addFormatsCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand("formats", "Print the element and the scaled formats");
  auto options = std::make_shared<FormatsOptions>();
  CLI::Option* json = command->add_flag("--json", options->json, "As JSON");
  command->add_flag("--markdown", options->markdown, "As the page docs/formats.md")->excludes(json);
  command->callback([options] {
    fmt::print("{}", options->json ? jsonPage() : options->markdown ? markdownPage() : plainPage());
  });
}

} // namespace octavo::tools
