// octavo checkpoint report: one page for people (docs/commands/checkpoint-report.md).

#include "tools/octavo/StatusLine.h"
#include "tools/octavo/checkpoint/Commands.h"

#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Reports/Report.h"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace octavo::tools {

namespace {

struct ReportFlags {
  std::string path, original, output;
};

void report(const ReportFlags& flags) {
  const StatusLine status(
      [](double seconds) { return fmt::format("reading all weights, {:.0f} s", seconds); });
  checkpoint::ReportOptions options;
  if (!flags.original.empty())
    options.original = flags.original;
  const auto made = checkpoint::makeReport(flags.path, options);
  if (!made)
    throw CommandError(made.error().message(), ExitCode::BadInput);
  auto file = checkpoint::OutputFile::create(flags.output);
  auto written = file ? file->write(checkpoint::reportPage(*made))
                      : tl::expected<void, checkpoint::Error>(tl::unexpect, file.error());
  if (written)
    written = file->commit();
  if (!written)
    throw CommandError(written.error().message(), ExitCode::BadInput);
  fmt::print("{}: {} layers, {} findings\n", flags.output, made->layers.size(),
             made->findings.size());
}

} // namespace

void addReportCommand(CLI::App& group) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = group.add_subcommand(
      "report", "Write one HTML page: bytes, error and scales of each layer, findings");
  command->add_option("DIR", flags->path, "The checkpoint: a folder, or a safetensors file")
      ->required();
  command->add_option("-o,--output", flags->output, "The page to write")
      ->required()
      ->type_name("FILE.html");
  command
      ->add_option("--against", flags->original,
                   "What it was made from: gives the error of each layer")
      ->type_name("DIR");
  command->footer("Example:\n  octavo checkpoint report Qwen3-8B-NVFP4 --against Qwen3-8B -o "
                  "report.html\nThe page needs no other file and no network.");
  command->callback([flags] { report(*flags); });
}

} // namespace octavo::tools
