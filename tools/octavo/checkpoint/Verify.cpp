// octavo checkpoint verify: checks that a written checkpoint keeps its promises
// (docs/commands/checkpoint-verify.md).

#include "tools/octavo/Paths.h"
#include "tools/octavo/Progress.h"
#include "tools/octavo/checkpoint/Commands.h"
#include "tools/octavo/checkpoint/NamedChoice.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"
#include "tools/octavo/checkpoint/Wording.h"

#include "octavo/Checkpoint/Jobs/Verify.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>

namespace octavo::tools {

namespace {

using checkpoint::Folder;
using checkpoint::Json;
using checkpoint::Promise;
using checkpoint::VerifyReport;

struct VerifyFlags {
  std::string output, source;
  bool isJson = false, showsAll = false;
  std::string rounding = "nearest", through;
  std::string outputLayout, sourceLayout;
  WorkFlags work;
};

constexpr NamedChoice<checkpoint::ExpectedRounding> kRoundings[] = {
    {"nearest", checkpoint::ExpectedRounding::Nearest},
    {"stochastic", checkpoint::ExpectedRounding::Stochastic}};

std::optional<kernels::WideType> wideTypeIfNamed(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional(wideTypeNamed(name));
}

std::string reportText(const VerifyReport& report, const VerifyFlags& flags) {
  constexpr std::size_t kShown = 5;
  std::string text = fmt::format("{} ({}) against {} ({})\n\n", printable(flags.output),
                                 report.outputLayout, printable(flags.source), report.sourceLayout);
  for (const Promise& promise : report.promises) {
    const char* verdict = !promise.isKept() ? "BROKEN" : promise.checked == 0 ? "-" : "kept";
    text += fmt::format("{:<6}  {}: {} (checked {}{})\n", verdict, promise.name, promise.statement,
                        promise.checked,
                        promise.isKept() ? "" : fmt::format(", broken {}", promise.broken.size()));
    for (std::size_t i = 0; i < promise.broken.size(); ++i) {
      if (i == kShown && !flags.showsAll && promise.broken.size() > kShown + 1) {
        text += fmt::format("          and {} more (--all shows them)\n",
                            promise.broken.size() - kShown);
        break;
      }
      text += fmt::format("          {}\n", printable(promise.broken[i]));
    }
  }
  return text;
}

std::string reportJson(const VerifyReport& report, const VerifyFlags& flags) {
  Json promises = Json::array();
  for (const Promise& promise : report.promises)
    promises.push_back({{"promise", promise.name},
                        {"statement", promise.statement},
                        {"kept", promise.isKept()},
                        {"checked", promise.checked},
                        {"broken", promise.broken}});
  return jsonText({{"output", flags.output},
                   {"source", flags.source},
                   {"output_layout", report.outputLayout},
                   {"source_layout", report.sourceLayout},
                   {"kept", report.isKept()},
                   {"promises", promises}});
}

void runVerify(const VerifyFlags& flags) {
  const auto rounding = choiceNamed("rounding", flags.rounding, kRoundings);
  // An unfinished checkpoint is opened too: one of the promises reports that it is unfinished.
  const Folder output = openFolder(flags.output, checkpoint::UnfinishedJob::Opened);
  const Folder source = openFolder(flags.source);
  // A checkpoint that octavo cannot read has no values to compare.
  layoutOf(output, flags.outputLayout);
  layoutOf(source, flags.sourceLayout);
  checkpoint::VerifyOptions options = {.rounding = rounding,
                                       .through = wideTypeIfNamed(flags.through),
                                       .outputLayout = layoutIfNamed(flags.outputLayout),
                                       .sourceLayout = layoutIfNamed(flags.sourceLayout),
                                       .work = workSettings(flags.work)};
  const VerifyReport report = [&] {
    Progress progress("verifying", bytesOf(output));
    options.work.progress = [&](std::uint64_t n) { progress.add(n); };
    return checkpoint::verify(output, source, options);
  }();
  printText(flags.isJson ? reportJson(report, flags) : reportText(report, flags));
  if (!report.isKept())
    throw CommandError(printable(flags.output) + " is not what was promised",
                       ExitCode::CheckFailed);
}

constexpr const char* kVerifyExamples = R"(Examples:
  octavo checkpoint verify model-nvfp4/ --against model-bf16/
  octavo checkpoint verify model-bf16/ --against model-fp8/ --json
  octavo checkpoint verify model-mxfp4/ --against model-bf16/ --rounding stochastic
  octavo checkpoint verify model-again/ --against model-nvfp4/ --through bf16)";

} // namespace

void addVerifyCommand(CLI::App& group) {
  CLI::App* command =
      group.add_subcommand("verify", "Check a written checkpoint against the one it was made from");
  auto flags = std::make_shared<VerifyFlags>();
  readsPath(command->add_option("checkpoint", flags->output, "What was written")->required());
  readsPath(command->add_option("--against", flags->source, "What it was made from")->required());
  command
      ->add_option("--rounding", flags->rounding,
                   "How weights were rounded: nearest, or stochastic, to either neighbour")
      ->type_name("ROUNDING")
      ->capture_default_str();
  command
      ->add_option("--through", flags->through,
                   "Dtype of the plain weights on the way, if the source was dequantized and then "
                   "quantized: bf16, f16 or f32")
      ->type_name("DTYPE");
  addFromOption(*command, flags->outputLayout);
  addAgainstFromOption(*command, flags->sourceLayout, "what it was made from");
  addWorkFlags(*command, flags->work);
  command->add_flag("--all", flags->showsAll, "Show every broken promise, not just five of a kind");
  command->add_flag("--json", flags->isJson, "As JSON");
  command->footer(kVerifyExamples);
  command->callback([flags] { runVerify(*flags); });
}

} // namespace octavo::tools
