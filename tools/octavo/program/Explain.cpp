// octavo explain: lists the dots that multiply scaled tensors, and why other dots that look narrow
// do not (docs/commands/explain.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/program/ProgramOutput.h"

#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Binding/ProgramFile.h"
#include "octavo/Session/Trials/DotWidths.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace octavo::tools {

namespace {

using session::DotWidths;
using transforms::DotWidth;
using transforms::RecoveredDot;
using transforms::RecoverReport;

struct ExplainFlags {
  std::string program;
  std::string output;
  bool failsOnMissed = false;
  bool isJson = false;
  OutputFormFlags form;
};

std::string sides(const RecoveredDot& dot) {
  return dot.lhs.empty() ? "" : fmt::format("{} x {}", dot.lhs, dot.rhs);
}

std::string why(const RecoveredDot& dot) {
  return !dot.obstacle.empty()
             ? fmt::format("'{}' at {} {}; {}", dot.obstacle, dot.place, dot.reason, dot.remedy)
         : dot.note.empty() ? ""
                            : "has " + dot.note;
}

std::string text(const DotWidths& widths) {
  const RecoverReport& report = widths.report;
  TextTable table = {{"dot", "is", "multiplies", "what stands in the way, and what to change"}};
  for (const RecoveredDot& dot : report.dots)
    table.push_back({dot.name, std::string(session::nameOf(dot)), sides(dot), why(dot)});
  std::string summary =
      fmt::format("{} of {} dots narrow, {} missed", report.count(DotWidth::Narrow),
                  report.dots.size(), report.count(DotWidth::Missed));
  if (const std::int64_t oneSided = report.countOneSided(); oneSided > 0)
    summary += fmt::format(", {} of the narrow ones on one side", oneSided);
  if (const auto share = report.narrowShare())
    summary += fmt::format("; {:.1f} % of the multiply-adds are narrow", 100 * *share);
  for (const transforms::MissedDots& group : transforms::missedDots(report))
    summary += fmt::format("\n{} {}: {}", group.dots.size(),
                           group.isOneSided ? "one-sided" : "missed", session::reasonOf(group));
  std::string page = report.dots.empty() ? "no dots" : plainText(table) + "\n" + summary;
  if (const std::int64_t dropped = widths.droppedScales; dropped > 0)
    page += fmt::format("\n{} quantized only to be dequantized; octavo run --drop-scales leaves {} "
                        "wide, with a rounding less",
                        dropped == 1 ? "1 tensor is" : fmt::format("{} tensors are", dropped),
                        dropped == 1 ? "it" : "them");
  return page;
}

void explainProgram(const ExplainFlags& flags) {
  const std::unique_ptr<mlir::MLIRContext> context = session::makeContext();
  auto file = session::readProgramFile(flags.program, *context);
  if (!file)
    throw CommandError(llvm::toString(file.takeError()), ExitCode::BadInput);
  auto widths = session::findDotWidths(*file->program);
  if (!widths)
    throw CommandError(fmt::format("{}: {}", flags.program, llvm::toString(widths.takeError())),
                       ExitCode::BadInput);
  const RecoverReport& report = widths->report;
  const std::int64_t missed = report.count(DotWidth::Missed) + report.countOneSided();
  const bool fails = flags.failsOnMissed && missed > 0;
  if (!flags.output.empty() && !fails) {
    if (file->container)
      file->container->dropDerivatives();
    writeProgram(*file, flags.form, flags.output);
  }
  if (flags.isJson) {
    nlohmann::ordered_json page = {{"program", flags.program}};
    page.update(session::json(*widths));
    printText(page.dump(2) + "\n");
  } else {
    printText(text(*widths) + "\n");
  }
  if (fails)
    throw CommandError(fmt::format("{}: {} of {} dots look narrow and multiply wide values",
                                   flags.program, missed, report.dots.size()),
                       ExitCode::CheckFailed);
}

} // namespace

void addExplainCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain",
      "List the matrix products that run in FP8, MX or NVFP4, and what keeps the others from it");
  auto flags = std::make_shared<ExplainFlags>();
  readsPath(command
                ->add_option("PROGRAM", flags->program,
                             "StableHLO: MLIR text, a portable artifact, or jax.export's container")
                ->required());
  writesPath(command
                 ->add_option("-o,--output", flags->output,
                              "Write the program, narrow dots as products of scaled tensors")
                 ->type_name("OUT"));
  addOutputFormFlags(*command, flags->form);
  command->add_flag("--fail-on-missed", flags->failsOnMissed,
                    "Exit with 1, and write no program, if a dot or a side of a dot is missed");
  command->add_flag("--json", flags->isJson, "Print JSON");
  command->footer(R"(Examples:
  octavo explain model.mlir
  octavo explain model.mlir --fail-on-missed -o model.scaled.mlir)");
  command->callback([flags] { explainProgram(*flags); });
}

} // namespace octavo::tools
