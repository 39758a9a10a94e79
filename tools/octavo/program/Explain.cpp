// octavo explain: which dots of a program multiply scaled tensors, and what keeps the others that
// look narrow from it (docs/commands/explain.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/TextTable.h"
#include "tools/octavo/program/ProgramOutput.h"

#include "octavo/Runtime/Program.h"
#include "octavo/Runtime/ProgramFile.h"
#include "octavo/Transforms/DropScales.h"
#include "octavo/Transforms/MissedDots.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/RecoverScaled.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>

namespace octavo::tools {

namespace {

using Json = nlohmann::ordered_json;
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

std::string_view nameOf(const RecoveredDot& dot) {
  switch (dot.width) {
  case DotWidth::Narrow:
    return dot.isOneSided() ? "one-sided" : "narrow";
  case DotWidth::Missed:
    return "missed";
  case DotWidth::Wide:
    return "wide";
  }
  llvm_unreachable("a width");
}

std::string sides(const RecoveredDot& dot) {
  return dot.lhs.empty() ? "" : fmt::format("{} x {}", dot.lhs, dot.rhs);
}

std::string why(const RecoveredDot& dot) {
  return !dot.obstacle.empty()
             ? fmt::format("'{}' at {} {}; {}", dot.obstacle, dot.place, dot.reason, dot.remedy)
         : dot.note.empty() ? ""
                            : "has " + dot.note;
}

/// What keeps the dots of a group wide.
std::string reasonOf(const transforms::MissedDots& group) {
  return fmt::format("{} {}", group.dots.front().obstacle, group.dots.front().reason);
}

/// How many tensors --drop-scales would leave wide.
std::int64_t droppedScales(mlir::ModuleOp recovered) {
  const mlir::OwningOpRef<mlir::ModuleOp> copy = recovered.clone();
  return transforms::dropScales(*copy).dropped();
}

std::string text(const RecoverReport& report, std::int64_t dropped) {
  TextTable table = {{"dot", "is", "multiplies", "what stands in the way, and what to change"}};
  for (const RecoveredDot& dot : report.dots)
    table.push_back({dot.name, std::string(nameOf(dot)), sides(dot), why(dot)});
  std::string summary =
      fmt::format("{} of {} dots narrow, {} missed", report.count(DotWidth::Narrow),
                  report.dots.size(), report.count(DotWidth::Missed));
  if (const std::int64_t oneSided = report.countOneSided(); oneSided > 0)
    summary += fmt::format(", {} of the narrow ones on one side", oneSided);
  if (const auto share = report.narrowShare())
    summary += fmt::format("; {:.1f} % of the multiply-adds are narrow", 100 * *share);
  for (const transforms::MissedDots& group : transforms::missedDots(report))
    summary += fmt::format("\n{} {}: {}", group.dots.size(),
                           group.isOneSided ? "one-sided" : "missed", reasonOf(group));
  std::string page = report.dots.empty() ? "no dots" : plainText(table) + "\n" + summary;
  if (dropped > 0)
    page += fmt::format("\n{} quantized only to be dequantized; octavo run --drop-scales leaves {} "
                        "wide, with a rounding less",
                        dropped == 1 ? "1 tensor is" : fmt::format("{} tensors are", dropped),
                        dropped == 1 ? "it" : "them");
  return page;
}

Json document(const ExplainFlags& flags, const RecoverReport& report, std::int64_t dropped) {
  const auto orNull = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json dots = Json::array(), reasons = Json::array();
  for (const RecoveredDot& dot : report.dots)
    dots.push_back({{"name", dot.name},
                    {"function", dot.function},
                    {"is", nameOf(dot)},
                    {"lhs", orNull(dot.lhs)},
                    {"rhs", orNull(dot.rhs)},
                    {"multiply_adds", dot.multiplyAdds ? Json(*dot.multiplyAdds) : Json(nullptr)},
                    {"obstacle", orNull(dot.obstacle)},
                    {"place", orNull(dot.place)},
                    {"reason", orNull(dot.reason)},
                    {"remedy", orNull(dot.remedy)},
                    {"note", orNull(dot.note)}});
  for (const transforms::MissedDots& group : transforms::missedDots(report))
    reasons.push_back({{"reason", reasonOf(group)},
                       {"dots", group.dots.size()},
                       {"is", group.isOneSided ? "one-sided" : "missed"}});
  const auto share = report.narrowShare();
  return {{"program", flags.program},
          {"narrow", report.count(DotWidth::Narrow)},
          {"one_sided", report.countOneSided()},
          {"missed", report.count(DotWidth::Missed)},
          {"wide", report.count(DotWidth::Wide)},
          {"narrow_share", share ? Json(*share) : Json(nullptr)},
          {"missed_by_reason", reasons},
          {"droppable_scales", dropped},
          {"dots", dots}};
}

void explainProgram(const ExplainFlags& flags) {
  const std::unique_ptr<mlir::MLIRContext> context = runtime::makeContext();
  auto file = runtime::readProgramFile(flags.program, *context);
  if (!file)
    throw CommandError(llvm::toString(file.takeError()), ExitCode::BadInput);
  // Scales may come into a function of their own, as JAX's jit within jit makes it, or a composite.
  mlir::PassManager inlining(context.get());
  transforms::LegalizeCompositesOptions composites;
  composites.keep = {"xla.scaled_dot"};
  inlining.addPass(transforms::createLegalizeComposites(composites));
  // Without simplifications between, of which MLIR has some that programs can crash.
  inlining.addPass(mlir::createInlinerPass({}, [](mlir::OpPassManager&) {}));
  if (mlir::failed(inlining.run(*file->program)))
    throw CommandError(fmt::format("{}: its calls cannot be inlined", flags.program),
                       ExitCode::BadInput);
  const RecoverReport report = transforms::recoverScaled(*file->program);
  const std::int64_t dropped = droppedScales(*file->program);
  if (!flags.output.empty()) {
    if (file->container)
      file->container->dropDerivatives();
    writeProgram(*file, flags.form, flags.output);
  }
  printText(flags.isJson ? fmt::format("{}\n", document(flags, report, dropped).dump(2))
                         : fmt::format("{}\n", text(report, dropped)));
  if (const std::int64_t missed = report.count(DotWidth::Missed) + report.countOneSided();
      flags.failsOnMissed && missed > 0)
    throw CommandError(fmt::format("{}: {} of {} dots look narrow and multiply wide values",
                                   flags.program, missed, report.dots.size()),
                       ExitCode::CheckFailed);
}

} // namespace

void addExplainCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "explain",
      "Say which dots of a program are narrow, and what keeps others that look so from it");
  auto flags = std::make_shared<ExplainFlags>();
  command
      ->add_option("PROGRAM", flags->program,
                   "StableHLO: MLIR text, a portable artifact, or jax.export's container")
      ->required();
  command
      ->add_option("-o,--output", flags->output,
                   "Write the program, narrow dots as products of scaled tensors")
      ->type_name("OUT");
  addOutputFormFlags(*command, flags->form);
  command->add_flag("--fail-on-missed", flags->failsOnMissed,
                    "Exit with 1 where a dot, or a side of it, is missed");
  command->add_flag("--json", flags->isJson, "Print JSON");
  command->footer(R"(Examples:
  octavo explain model.mlir
  octavo explain model.mlir --fail-on-missed -o model.scaled.mlir)");
  command->callback([flags] { explainProgram(*flags); });
}

} // namespace octavo::tools
