// octavo checkpoint report: writes one page for people (docs/commands/checkpoint-report.md).

#include "tools/octavo/Paths.h"
#include "tools/octavo/StatusLine.h"
#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/FigureJson.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"
#include "tools/octavo/checkpoint/SideFile.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Reports/Report.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace octavo::tools {

namespace {

using checkpoint::Json;

struct ReportFlags {
  std::string path, original, output;
  std::string layout, originalLayout;
  WorkFlags work;
  bool isJson = false;
};

checkpoint::Report makeReport(const ReportFlags& flags) {
  checkpoint::ReportOptions options = {.original = {},
                                       .layout = layoutIfNamed(flags.layout),
                                       .originalLayout = layoutIfNamed(flags.originalLayout),
                                       .work = workSettings(flags.work)};
  const StatusLine status(
      [](double seconds) { return fmt::format("reading all weights, {:.0f} s", seconds); });
  if (!flags.original.empty())
    options.original = flags.original;
  auto made = checkpoint::makeReport(flags.path, options);
  if (!made)
    throw CommandError(made.error().message(), ExitCode::BadInput);
  return std::move(*made);
}

/// Throws CommandError if the page would replace a file of either checkpoint, or if octavo cannot
/// read the codes to compare.
void checkPaths(const ReportFlags& flags) {
  const checkpoint::Folder folder = openFolder(flags.path);
  if (flags.original.empty())
    return;
  layoutOf(folder, flags.layout);
  layoutOf(openFolder(flags.original), flags.originalLayout);
}

void writePage(const checkpoint::Report& report, const std::string& path) {
  auto file = checkpoint::OutputFile::create(fileBehind(path));
  auto written = file ? file->write(checkpoint::reportPage(report))
                      : tl::expected<void, checkpoint::Error>(tl::unexpect, file.error());
  if (written)
    written = file->commit();
  if (!written)
    throw CommandError(written.error().message(), ExitCode::BadInput);
}

std::string reportJson(const checkpoint::Report& report, const ReportFlags& flags) {
  Json layers = Json::array();
  for (const checkpoint::ReportLayer& layer : report.layers)
    layers.push_back(
        {{"name", layer.name},
         {"format", layer.format},
         {"shape", layer.shape},
         {"bytes", layer.bytes},
         {"bits_per_weight", layer.bitsPerWeight},
         {"codes", layer.codes.count},
         {"codes_at_max", layer.codes.atMax},
         {"scales", scalesJson(layer.scales, layer.histogram)},
         {"rules", layer.reproduction.rules},
         {"presets", layer.reproduction.presets},
         {"difference", layer.difference ? differenceJson(*layer.difference) : Json()}});
  return jsonText({{"path", flags.path},
                   {"against", flags.original.empty() ? Json() : Json(flags.original)},
                   {"layout", report.inspection.layout},
                   {"bytes", report.inspection.bytes},
                   {"weights", report.inspection.weights},
                   {"bits_per_weight", report.inspection.bitsPerWeight()},
                   {"layers", layers},
                   {"findings", findingsJson(report.findings)}});
}

void runReport(const ReportFlags& flags) {
  if (flags.output.empty() && !flags.isJson)
    throw CommandError("expected --output FILE.html, --json or both, found neither",
                       ExitCode::BadUsage);
  if (!flags.output.empty())
    checkPaths(flags);
  const checkpoint::Report report = makeReport(flags);
  if (!flags.output.empty())
    writePage(report, flags.output);
  if (flags.isJson)
    printText(reportJson(report, flags));
  else
    printText(fmt::format("{}: {} layers, {} findings\n", flags.output, report.layers.size(),
                          report.findings.size()));
}

} // namespace

void addReportCommand(CLI::App& group) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = group.add_subcommand(
      "report", "Write one HTML page: bytes, error and scales of each layer, findings");
  readsPath(
      command->add_option("DIR", flags->path, "The checkpoint: a folder, or a safetensors file")
          ->required());
  writesPath(command->add_option("-o,--output", flags->output, "The page to write")
                 ->type_name("FILE.html"),
             {.isEarlierOutput = checkpoint::isReportPage});
  readsPath(command
                ->add_option("--against", flags->original,
                             "What it was made from: gives the error of each layer")
                ->type_name("DIR"));
  addFromOption(*command, flags->layout);
  addAgainstFromOption(*command, flags->originalLayout, "what it was made from");
  addWorkFlags(*command, flags->work);
  command->add_flag("--json", flags->isJson, "The page's figures as JSON, with or without a page");
  command->footer("Examples:\n  octavo checkpoint report Qwen3-8B-NVFP4 --against Qwen3-8B -o "
                  "report.html\n  octavo checkpoint report Qwen3-8B-NVFP4 --against Qwen3-8B --json"
                  "\nThe page needs no other file and no network.");
  command->callback([flags] { runReport(*flags); });
}

} // namespace octavo::tools
