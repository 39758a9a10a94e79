// octavo quantize: quantizes a program's dots and reports for each what was done and why
// (docs/commands/quantize.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Help.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/program/DotFlags.h"
#include "tools/octavo/program/MissedWarnings.h"
#include "tools/octavo/program/ProgramOutput.h"

#include "octavo/Base/NearNames.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Transforms/Quantize/QuantizeDots.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>

namespace octavo::tools {

namespace {

using Json = nlohmann::ordered_json;
using format::ScaledFormat;

struct QuantizeFlags {
  std::string program;
  std::string output;
  bool explains = false;
  bool isJson = false;
  bool inProgram = false;
  bool failsOnMissed = false;
  DotFlags dots;
  OutputFormFlags form;
};

std::int64_t toBytes(std::int64_t bits) { return bits / 8 + (bits % 8 != 0); }

std::string_view nameOf(const ScaledFormat* format) { return format ? format->name : "wide"; }

std::string decisionText(const transforms::DotRecord& dot) {
  if (!dot.isQuantized)
    return "left";
  if (dot.lhs == dot.rhs)
    return std::string(nameOf(dot.lhs));
  return fmt::format("{} x {}", nameOf(dot.lhs), nameOf(dot.rhs));
}

std::string explanation(const transforms::DotReport& report) {
  TextTable table = {{"dot", "MxNxK", "decision", "why, and where", "weight"}};
  for (const transforms::DotRecord& dot : report.dots)
    table.push_back({dot.name, dot.sizes(), decisionText(dot), dot.reason,
                     dot.weight.empty() ? "-" : dot.weight});
  for (const transforms::OtherProduct& other : report.others)
    table.push_back({other.name, "-", "left", other.reason, "-"});
  return plainText(table);
}

std::string summary(const transforms::DotReport& report) {
  std::string text = fmt::format("{} of {} dots quantized", report.quantized(), report.dots.size());
  if (const std::size_t others = report.others.size(); others > 0)
    text += fmt::format(", {} product{} of other kinds left", others, others == 1 ? "" : "s");
  if (report.quantized() == 0 && !(report.dots.empty() && report.others.empty()))
    text += fmt::format(" ({}; --explain tells it of each)", report.whyLeft());
  if (!report.weights.empty())
    text += fmt::format("; weights of dots: {} bytes before, {} after",
                        toBytes(report.weightBitsBefore()), toBytes(report.weightBitsAfter()));
  for (const transforms::CacheRecord& cache : report.caches)
    text +=
        cache.format
            ? fmt::format("\ncache {} of @{}: {}, {} bytes before, {} after; it is codes {}, "
                          "and {}.scales {} goes beside it, both 0 before anything is appended.",
                          cache.name, cache.function, cache.format->name, toBytes(cache.bitsBefore),
                          toBytes(cache.bitsAfter), cache.codes, cache.name, cache.scales)
            : fmt::format("\ncache {} of @{}: left: {}", cache.name, cache.function, cache.reason);
  for (const transforms::DelayedRecord& delayed : report.delayed)
    text +=
        fmt::format("\n@{} takes and returns octavo.scales f32[{}], 1 before the first step, and "
                    "octavo.histories f32[{}, {}], 0 before it.",
                    delayed.function, delayed.tensors, delayed.tensors, delayed.history);
  for (const std::string& function : report.random)
    text += fmt::format("\n@{} takes and returns octavo.random ui64[2], a key and a counter: any "
                        "seed and 0 before the first step.",
                        function);
  std::vector<std::string> arguments;
  for (const transforms::DotRecord& dot : report.dots)
    for (const std::string& name : dot.arguments)
      if (std::find(arguments.begin(), arguments.end(), name) == arguments.end())
        arguments.push_back(name);
  if (!arguments.empty())
    text += fmt::format("\nArguments that dots without a weight take: {}; --parameters REGEX makes "
                        "those that it finds weights.",
                        base::someOf(arguments));
  return text;
}

Json extentJson(std::optional<std::int64_t> extent) {
  return extent ? Json(*extent) : Json(nullptr);
}

Json formatJson(const ScaledFormat* format) { return format ? Json(format->name) : Json(nullptr); }

/// The amax of a static scale; null if there is none.
Json amaxJson(std::optional<float> amax) { return amax ? Json(*amax) : Json(nullptr); }

Json document(const QuantizeFlags& flags, const transforms::DotOptions& options,
              const transforms::DotReport& report) {
  Json dots = Json::array();
  for (const transforms::DotRecord& dot : report.dots)
    dots.push_back({{"name", dot.name},
                    {"function", dot.function},
                    {"batch", extentJson(dot.batch)},
                    {"m", extentJson(dot.m)},
                    {"n", extentJson(dot.n)},
                    {"k", extentJson(dot.k)},
                    {"quantized", dot.isQuantized},
                    {"lhs", formatJson(dot.lhs)},
                    {"rhs", formatJson(dot.rhs)},
                    {"lhs_amax", amaxJson(dot.lhsAmax)},
                    {"rhs_amax", amaxJson(dot.rhsAmax)},
                    {"weight", dot.weight.empty() ? Json(nullptr) : Json(dot.weight)},
                    {"reason", dot.reason}});
  Json others = Json::array();
  for (const transforms::OtherProduct& other : report.others)
    others.push_back(
        {{"name", other.name}, {"function", other.function}, {"reason", other.reason}});
  Json weights = Json::array();
  for (const transforms::WeightRecord& weight : report.weights)
    weights.push_back({{"name", weight.name},
                       {"elements", weight.elements},
                       {"bytes_before", toBytes(weight.bitsBefore)},
                       {"bytes_after", toBytes(weight.bitsAfter)}});
  Json caches = Json::array();
  for (const transforms::CacheRecord& cache : report.caches)
    caches.push_back({{"name", cache.name},
                      {"function", cache.function},
                      {"format", formatJson(cache.format)},
                      {"bytes_before", toBytes(cache.bitsBefore)},
                      {"bytes_after", toBytes(cache.bitsAfter)},
                      {"reason", cache.reason}});
  Json delayed = Json::array();
  for (const transforms::DelayedRecord& each : report.delayed)
    delayed.push_back(
        {{"function", each.function}, {"tensors", each.tensors}, {"history", each.history}});
  return {{"program", flags.program},
          {"recipe", flags.dots.recipe.empty() ? Json(nullptr) : Json(flags.dots.recipe)},
          {"weights_format", formatJson(options.weights)},
          {"activations_format", formatJson(options.activations)},
          {"rule", options.weights
                       ? Json(format::scaleRuleName(options.rule.value_or(options.weights->rule)))
                       : Json(nullptr)},
          {"dots_quantized", report.quantized()},
          {"weight_bytes_before", toBytes(report.weightBitsBefore())},
          {"weight_bytes_after", toBytes(report.weightBitsAfter())},
          {"dots", dots},
          {"others", others},
          {"weights", weights},
          {"caches", caches},
          {"delayed", delayed},
          {"random", report.random}};
}

void quantizeProgram(const QuantizeFlags& flags) {
  transforms::DotOptions options = dotOptions(flags.dots);
  if (flags.inProgram)
    options.weightTime = transforms::WeightTime::InProgram;
  const std::unique_ptr<mlir::MLIRContext> context = session::makeContext();
  auto file = session::readProgramFile(flags.program, *context);
  if (!file)
    throw CommandError(llvm::toString(file.takeError()), ExitCode::BadInput);
  llvm::Expected<transforms::DotReport> report = transforms::quantizeDots(*file->program, options);
  if (!report)
    throw CommandError(fmt::format("{}: {}", flags.program, llvm::toString(report.takeError())),
                       ExitCode::BadInput);
  warnOfMissedDots(*file->program, "", flags.program, flags.failsOnMissed);
  if (!flags.output.empty()) {
    if (file->container)
      file->container->dropDerivatives();
    writeProgram(*file, flags.form, flags.output);
  }
  if (flags.isJson) {
    printText(fmt::format("{}\n", document(flags, options, *report).dump(2)));
    return;
  }
  if (flags.explains)
    printText(fmt::format("{}\n", explanation(*report)));
  printText(fmt::format("{}\n", summary(*report)));
}

} // namespace

void addQuantizeCommand(CLI::App& app) {
  CLI::App* command =
      app.add_subcommand("quantize", "Quantize a program's matrix products and explain each");
  auto flags = std::make_shared<QuantizeFlags>();
  readsPath(command
                ->add_option("PROGRAM", flags->program,
                             "StableHLO: MLIR text, a portable artifact, or jax.export's container")
                ->required());
  CLI::Option* format = command
                            ->add_option("--format", flags->dots.format,
                                         fmt::format("Scaled format of the weights: {}",
                                                     fmt::join(scaledFormatNames(), ", ")))
                            ->type_name("FORMAT");
  writesPath(
      command->add_option("-o,--output", flags->output, "Write the program")->type_name("OUT"));
  addOutputFormFlags(*command, flags->form);
  command->add_flag("--explain", flags->explains, "Print what happened to every dot, and why");
  command->add_flag("--json", flags->isJson, "Print the explanation as JSON");
  command->add_flag("--in-program", flags->inProgram,
                    "Quantize weights by operations in the program, not once beforehand");
  addFailOnMissed(*command, flags->failsOnMissed);
  addDotFlags(*command, flags->dots, format);
  needsOneOf(*command, {format, command->get_option("--recipe")});
  command->footer(R"(Examples:
  octavo quantize model.mlir --format mxfp8_e4m3 --explain
  octavo quantize model.mlir --format mxfp4 --activations none --exclude embed -o model.mxfp4.mlir
  octavo quantize model.mlir --recipe mxfp8-inner --explain
`octavo formats` lists the scaled formats.)");
  command->callback([flags] { quantizeProgram(*flags); });
}

} // namespace octavo::tools
