// octavo checkpoint inspect: describes a checkpoint (docs/commands/checkpoint-inspect.md).

#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/FigureJson.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/Reports/Inspect.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

namespace octavo::tools {

namespace {

using checkpoint::Folder;
using checkpoint::Inspection;
using checkpoint::Json;
using checkpoint::NameInspection;
using checkpoint::ScaleCensus;
using checkpoint::ScaleFault;
using checkpoint::ScaleHistogram;
using checkpoint::TensorInspection;

struct InspectFlags {
  std::string path, tensor, layout;
  bool isJson = false, showsScales = false, listsTensors = false;
};

std::string shapeText(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// One line for each power of two that occurs, `2^-9   1234  ########`; gaps have no line.
std::string histogramText(const ScaleHistogram& histogram) {
  constexpr double kWidth = 40;
  const std::uint64_t most = *std::ranges::max_element(histogram.counts);
  std::string text;
  for (int exponent = ScaleHistogram::kHighest; exponent >= ScaleHistogram::kLowest; --exponent)
    if (const std::uint64_t n = histogram[exponent])
      text +=
          fmt::format("    2^{:<4} {:>12}  {}\n", exponent, n,
                      std::string(static_cast<std::size_t>(std::ceil(
                                      kWidth * static_cast<double>(n) / static_cast<double>(most))),
                                  '#'));
  return text;
}

std::string scalesText(const ScaleCensus& census) {
  std::string text = countText(census.count, "scale");
  if (census.largest > 0)
    text += census.smallest == census.largest
                ? fmt::format(", {:.6g}", census.largest)
                : fmt::format(", {:.6g} to {:.6g}", census.smallest, census.largest);
  for (std::size_t fault = 0; fault < kFaultNames.size(); ++fault)
    if (census.faults[fault] > 0)
      text += fmt::format(", {} {}", census.faults[fault], kFaultNames[fault]);
  return text;
}

std::string inspectionText(const Inspection& inspection, const InspectFlags& flags) {
  std::string text =
      fmt::format("{}: {} ({})\n{}{}, {}, {}, {} weights, {:.3f} bits per weight\n",
                  printable(flags.path), inspection.layout, inspection.reason,
                  inspection.quantizer.empty()
                      ? ""
                      : fmt::format("written by {}; ", printable(inspection.quantizer)),
                  countText(inspection.shards, "shard"), countText(inspection.tensors, "tensor"),
                  bytesText(inspection.bytes), inspection.weights, inspection.bitsPerWeight());
  if (!inspection.formats.empty()) {
    TextTable table = {{"format", "layers", "weights", "codes", "scales", "bits per weight",
                        "activations", "smallest scale", "largest scale"}};
    for (const checkpoint::FormatUse& use : inspection.formats) {
      const bool hasRange = use.scales.largest > 0;
      table.push_back({use.format, std::to_string(use.layers), std::to_string(use.weights),
                       bytesText(use.codeBytes), bytesText(use.scaleBytes),
                       fmt::format("{:.3f}", use.bitsPerWeight()), use.activations,
                       hasRange ? fmt::format("{:.4g}", use.scales.smallest) : "-",
                       hasRange ? fmt::format("{:.4g}", use.scales.largest) : "-"});
    }
    text += "\n" + plainText(table);
  }
  if (!inspection.plain.empty()) {
    TextTable table = {{"plain", "tensors", "elements", "bytes"}};
    for (const checkpoint::PlainUse& use : inspection.plain)
      table.push_back({std::string(use.dtype), std::to_string(use.tensors),
                       std::to_string(use.elements), bytesText(use.bytes)});
    text += "\n" + plainText(table);
  }
  if (inspection.unreadBytes > 0)
    text += fmt::format("\n{} are codes that octavo cannot read{}: they count as no weights\n",
                        bytesText(inspection.unreadBytes),
                        inspection.producer.empty() ? "" : ", of " + inspection.producer);
  const checkpoint::KvUse& kv = inspection.kv;
  text += fmt::format("\nkey-value cache: {}; of {}, {} have a key scale and {} a value scale\n",
                      kv.format.empty() ? "no format asked for" : kv.format + " asked for",
                      countText(kv.attentionModules, "attention module"), kv.withKey, kv.withValue);
  if (flags.showsScales)
    for (const checkpoint::FormatUse& use : inspection.formats)
      text += fmt::format("\nscales of {}: {}\n{}", use.format, scalesText(use.scales),
                          histogramText(use.histogram));
  if (!inspection.findings.empty())
    text += fmt::format("\n{}: octavo checkpoint lint {}\n",
                        countText(inspection.findings.size(), "finding"), printable(flags.path));
  return text;
}

std::string inspectionJson(const Inspection& inspection, const InspectFlags& flags) {
  Json formats = Json::array(), plain = Json::array();
  for (const checkpoint::FormatUse& use : inspection.formats)
    formats.push_back({{"format", use.format},
                       {"activations", use.activations},
                       {"layers", use.layers},
                       {"weights", use.weights},
                       {"code_bytes", use.codeBytes},
                       {"scale_bytes", use.scaleBytes},
                       {"bits_per_weight", use.bitsPerWeight()},
                       {"scales", scalesJson(use.scales, use.histogram)}});
  for (const checkpoint::PlainUse& use : inspection.plain)
    plain.push_back({{"dtype", use.dtype},
                     {"tensors", use.tensors},
                     {"elements", use.elements},
                     {"bytes", use.bytes}});
  return jsonText({{"path", flags.path},
                   {"layout", inspection.layout},
                   {"reason", inspection.reason},
                   {"quantizer", inspection.quantizer},
                   {"shards", inspection.shards},
                   {"tensors", inspection.tensors},
                   {"bytes", inspection.bytes},
                   {"weights", inspection.weights},
                   {"bits_per_weight", inspection.bitsPerWeight()},
                   {"unread_bytes", inspection.unreadBytes},
                   {"producer", inspection.producer},
                   {"formats", formats},
                   {"plain", plain},
                   {"kv_cache",
                    {{"format", inspection.kv.format},
                     {"attention_modules", inspection.kv.attentionModules},
                     {"with_key_scale", inspection.kv.withKey},
                     {"with_value_scale", inspection.kv.withValue}}},
                   {"findings", inspection.findings.size()}});
}

std::string codesText(const checkpoint::CodeCensus& codes) {
  return fmt::format("{} codes: {} zero, {} -0, {} at the largest value, {} NaN, {} infinite",
                     codes.count, codes.zero, codes.negativeZero, codes.atMax, codes.nan,
                     codes.inf);
}

std::string nameInspectionText(const NameInspection& inspection) {
  std::string text;
  if (!inspection.layer.empty())
    text += printable(inspection.layer) + "\n";
  if (!inspection.format.empty())
    text +=
        fmt::format("  {} {}, blocks of {}\n  {}\n", inspection.format, shapeText(inspection.shape),
                    shapeText(inspection.block), printable(inspection.reading));
  if (inspection.largestWeight)
    text += fmt::format("  no weight is larger than {:.6g}\n", *inspection.largestWeight);
  for (const TensorInspection& tensor : inspection.tensors) {
    text += fmt::format("{}\n  {}: {} {}, {}, in {}\n", printable(tensor.name), tensor.role,
                        tensor.dtype, shapeText(tensor.shape), bytesText(tensor.bytes),
                        printable(tensor.file));
    if (tensor.codes)
      text += "  " + codesText(*tensor.codes) + "\n";
    if (tensor.amax)
      text += fmt::format("  amax {:.6g}\n", *tensor.amax);
    if (tensor.scales)
      text += fmt::format("  {}\n{}", scalesText(*tensor.scales),
                          tensor.scales->count > 1 ? histogramText(tensor.histogram) : "");
  }
  return text;
}

std::string nameInspectionJson(const NameInspection& inspection) {
  Json tensors = Json::array();
  for (const TensorInspection& tensor : inspection.tensors) {
    Json json = {{"name", tensor.name},   {"file", tensor.file},   {"dtype", tensor.dtype},
                 {"shape", tensor.shape}, {"bytes", tensor.bytes}, {"role", tensor.role}};
    if (tensor.codes)
      json["codes"] = {{"count", tensor.codes->count},
                       {"zero", tensor.codes->zero},
                       {"negative_zero", tensor.codes->negativeZero},
                       {"at_max", tensor.codes->atMax},
                       {"nan", tensor.codes->nan},
                       {"inf", tensor.codes->inf}};
    if (tensor.amax)
      json["amax"] =
          std::isfinite(*tensor.amax) ? Json(*tensor.amax) : Json(fmt::format("{}", *tensor.amax));
    if (tensor.scales)
      json["scales"] = scalesJson(*tensor.scales, tensor.histogram);
    tensors.push_back(std::move(json));
  }
  Json json = {{"layer", inspection.layer}, {"tensors", tensors}};
  if (!inspection.format.empty()) {
    json["format"] = inspection.format;
    json["shape"] = inspection.shape;
    json["block"] = inspection.block;
    json["reading"] = inspection.reading;
    json["largest_weight"] = inspection.largestWeight ? Json(*inspection.largestWeight) : Json();
  }
  return jsonText(json);
}

void listTensors(const Folder& folder, const InspectFlags& flags) {
  if (flags.isJson) {
    Json tensors = Json::array();
    for (const checkpoint::StoredTensor& tensor : folder.tensors())
      tensors.push_back({{"name", tensor.name()},
                         {"dtype", tensor.entry->dtype->name},
                         {"shape", tensor.entry->shape},
                         {"bytes", tensor.size()}});
    printText(jsonText(tensors));
    return;
  }
  TextTable table = {{"tensor", "dtype", "shape", "bytes"}};
  for (const checkpoint::StoredTensor& tensor : folder.tensors())
    table.push_back({printable(tensor.name()), std::string(tensor.entry->dtype->name),
                     shapeText(tensor.entry->shape), bytesText(tensor.size())});
  printText(plainText(table));
}

void runInspect(const InspectFlags& flags) {
  const auto folder = Folder::open(flags.path);
  std::error_code ignored; // Folder::open has reported it
  if (!folder)
    throw CommandError(folder.error().message() +
                           (std::filesystem::exists(flags.path, ignored)
                                ? "\n  `octavo checkpoint lint` opens what it can"
                                : ""),
                       ExitCode::BadInput);
  if (flags.listsTensors) {
    listTensors(*folder, flags);
    return;
  }
  const checkpoint::Layout* layout = layoutIfNamed(flags.layout);
  if (flags.tensor.empty()) {
    const auto inspection = [&] {
      const ElapsedTime elapsed("reading " + printable(flags.path));
      return checkpoint::inspect(*folder, layout);
    }();
    if (!inspection)
      throw CommandError(inspection.error().message(), ExitCode::BadInput);
    printText(flags.isJson ? inspectionJson(*inspection, flags)
                           : inspectionText(*inspection, flags));
    return;
  }
  const auto inspection = [&] {
    const ElapsedTime elapsed("reading " + printable(flags.path));
    return checkpoint::inspectName(*folder, flags.tensor, layout);
  }();
  if (!inspection)
    throw CommandError(inspection.error().message(), ExitCode::BadInput);
  printText(flags.isJson ? nameInspectionJson(*inspection) : nameInspectionText(*inspection));
}

constexpr const char* kInspectExamples = R"(Examples:
  octavo checkpoint inspect model/
  octavo checkpoint inspect model/ --scales  # with a histogram of the scales
  octavo checkpoint inspect model/ --tensor model.layers.0.mlp.up_proj
  octavo checkpoint inspect model/ --tensors --json)";

} // namespace

void addInspectCommand(CLI::App& group) {
  CLI::App* command = group.add_subcommand(
      "inspect", "Show what a checkpoint holds: layout, formats, bytes, scales");
  auto flags = std::make_shared<InspectFlags>();
  readsPath(command->add_option("checkpoint", flags->path, "Folder, or one safetensors file")
                ->required());
  CLI::Option* tensor = takesNoPath(command->add_option(
      "--tensor", flags->tensor, "One tensor or layer: its parts, codes and scales"));
  command->add_flag("--tensors", flags->listsTensors, "List the tensors")->excludes(tensor);
  command->add_flag("--scales", flags->showsScales, "Histograms of the scales")->excludes(tensor);
  addFromOption(*command, flags->layout);
  command->add_flag("--json", flags->isJson, "As JSON");
  command->footer(kInspectExamples);
  command->callback([flags] { runInspect(*flags); });
}

} // namespace octavo::tools
