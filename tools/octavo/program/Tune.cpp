// octavo tune: chooses a format for each dot so that the cost is lowest within a budget
// (docs/commands/tune.md).

#include "tools/octavo/Commands.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Interruption.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/StatusLine.h"
#include "tools/octavo/Threads.h"
#include "tools/octavo/program/DotFlags.h"
#include "tools/octavo/program/OrThrow.h"
#include "tools/octavo/program/RunInterruption.h"
#include "tools/octavo/program/TextFile.h"
#include "tools/octavo/program/TuneInputs.h"
#include "tools/octavo/program/TuneMetric.h"
#include "tools/octavo/program/TunePlot.h"
#include "tools/octavo/program/TuneReport.h"

#include "octavo/Session/Backends.h"
#include "octavo/Session/Binding/Program.h"
#include "octavo/Session/Trials/FormatTuning.h"
#include "octavo/Transforms/Quantize/DotFormatsName.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

namespace octavo::tools {

namespace {

using analysis::SearchPhase;
using session::FormatTrials;
using session::TuningCost;

struct TuneFlags {
  std::string program;
  std::string function;
  TuneInputFlags inputs;
  std::string budget;
  std::string metric;
  std::vector<std::string> formats;
  std::string cost = "bytes";
  std::string output;
  std::string plot;
  std::string backend = "compiled";
  DotFlags dots;
  std::optional<std::size_t> tries;
  bool isJson = false;
  int threads = 0;
};

/// The status of the search, for the line on the terminal.
class TuneStatus {
public:
  void take(const session::TuningProgress& progress) {
    const std::lock_guard lock(mutex);
    if (last && (last->isTiming != progress.isTiming || last->step.phase != progress.step.phase))
      phaseBegan.reset();
    last = progress;
  }

private:
  static std::string_view nameOf(const session::TuningProgress& progress) {
    if (progress.isTiming)
      return "timing formats";
    switch (progress.step.phase) {
    case SearchPhase::Start:
      return "all dots alike";
    case SearchPhase::Sensitivity:
      return "each dot alone";
    case SearchPhase::Descent:
      return "looking for the budget's place";
    case SearchPhase::Checks:
      return "looking for cheaper ones";
    case SearchPhase::Tries:
      return "what predictions left out";
    case SearchPhase::Front:
      return "the rest of the front";
    }
    return "";
  }

  static bool hasOpenEnd(SearchPhase phase) {
    return phase == SearchPhase::Checks || phase == SearchPhase::Tries;
  }

  std::string text(double seconds) {
    const std::lock_guard lock(mutex);
    if (!last)
      return fmt::format("tune: reading, {:.0f} s", seconds);
    const auto& step = last->step;
    if (!phaseBegan)
      phaseBegan = {seconds, step.done};
    std::string left;
    const auto [began, first] = *phaseBegan;
    // Phases of checks and trials have no known end, so no time is shown for them.
    if (step.done > first && !hasOpenEnd(step.phase))
      left = fmt::format(", {:.0f} s left of it", (seconds - began) /
                                                      static_cast<double>(step.done - first) *
                                                      static_cast<double>(step.of - step.done));
    return fmt::format("tune: {}, {} of {}{}, {:.0f} s", nameOf(*last), step.done + 1,
                       hasOpenEnd(step.phase) ? fmt::format("at most {}", step.of)
                                              : fmt::format("{}", step.of),
                       left, seconds);
  }

  std::mutex mutex;
  std::optional<session::TuningProgress> last;
  std::optional<std::pair<double, std::size_t>> phaseBegan; ///< seconds, number of the step
  StatusLine line{[this](double seconds) { return text(seconds); }}; ///< last: it reads the others

public:
  double seconds() const { return line.seconds(); }
};

/// The names in comma-separated lists.
std::vector<std::string> namesIn(const std::vector<std::string>& lists) {
  std::vector<std::string> names;
  for (const std::string& list : lists)
    for (std::size_t begin = 0; begin <= list.size();) {
      const std::size_t end = std::min(list.find(',', begin), list.size());
      if (end == begin)
        throw CommandError(fmt::format("--formats \"{}\": there is no name {} a comma; give names "
                                       "of formats with commas between them",
                                       list, begin == list.size() ? "after" : "before"),
                           ExitCode::BadUsage);
      names.push_back(list.substr(begin, end - begin));
      begin = end + 1;
    }
  return names;
}

std::vector<transforms::DotFormats> candidatesOf(const TuneFlags& flags) {
  std::shared_ptr<const transforms::StaticScales> calibration;
  if (!flags.dots.calibration.empty())
    calibration = staticScales(flags.dots.calibration);
  if (flags.formats.empty())
    return transforms::inferenceFormats(calibration);
  std::vector<transforms::DotFormats> candidates;
  std::vector<std::string> known;
  for (const std::string& name : namesIn(flags.formats)) {
    auto formats = transforms::dotFormatsOf(name, calibration);
    if (!formats)
      throw CommandError("--formats " + llvm::toString(formats.takeError()), ExitCode::BadUsage);
    const std::string shortest = transforms::nameOf(*formats);
    if (std::ranges::find(known, shortest) != known.end())
      throw CommandError(fmt::format("--formats: {} is there twice", shortest), ExitCode::BadUsage);
    known.push_back(shortest);
    candidates.push_back(std::move(*formats));
  }
  if (calibration && std::ranges::none_of(candidates, [](const auto& formats) {
        return formats.scales || formats.moved;
      }))
    throw CommandError("--calibration: no format of --formats takes it; add +static or +migrated "
                       "to one",
                       ExitCode::BadUsage);
  return candidates;
}

transforms::DotOptions whichDots(const TuneFlags& flags,
                                 const std::vector<transforms::DotFormats>& candidates) {
  transforms::DotOptions options;
  static_cast<transforms::DotFormats&>(options) = candidates.front();
  options.match = flags.dots.match;
  options.exclude = flags.dots.exclude;
  options.parameters = flags.dots.parameters;
  options.minSize = flags.dots.minSize;
  if (llvm::Error error = transforms::checkOptions(options))
    throw CommandError(llvm::toString(std::move(error)), ExitCode::BadUsage);
  return options;
}

analysis::Budget budgetOf(const TuneFlags& flags) {
  const auto budget = analysis::parseBudget(flags.budget, !flags.metric.empty());
  if (!budget)
    throw CommandError("--" + budget.error(), ExitCode::BadUsage);
  if (!flags.metric.empty() && flags.metric.find(kOutputsPlace) == std::string::npos)
    throw CommandError(
        "--metric: the command finds the outputs in the folder that {outputs} stands "
        "for: write it where its path is to be, as in \"python score.py {outputs}\"",
        ExitCode::BadUsage);
  return *budget;
}

TuningCost costOf(const TuneFlags& flags) {
  if (flags.cost == "bytes")
    return TuningCost::Bytes;
  if (flags.cost == "time")
    return TuningCost::Time;
  throw CommandError(unknownName("cost", flags.cost, {"bytes", "time"}), ExitCode::BadUsage);
}

[[noreturn]] void reportInterruption(const TuneFlags& flags, std::size_t measured) {
  throw CommandError(
      measured == 0
          ? "interrupted before anything was measured; nothing was written"
          : fmt::format("interrupted; {} choices that were measured are in {}: the same command "
                        "goes on from there",
                        measured, flags.output + ".state"),
      ExitCode::Interrupted);
}

void tuneProgram(const TuneFlags& flags) {
  const analysis::Budget budget = budgetOf(flags);
  const std::vector<transforms::DotFormats> candidates = candidatesOf(flags);
  const session::Backend* backend = session::find(flags.backend);
  if (backend == nullptr)
    throw CommandError(unknownName("backend", flags.backend, session::names()), ExitCode::BadUsage);
  session::TrialOptions trialOptions{.function = flags.function,
                                     .backend = backend,
                                     .weights = orThrow(session::tensorNames(flags.inputs.weights)),
                                     .dots = whichDots(flags, candidates),
                                     .candidates = candidates};
  session::TuningOptions options{.budget = budget, .cost = costOf(flags), .tries = flags.tries};
  const ThreadLimit limit(flags.threads);
  // Creates the files now, so that an unwritable place is reported before the work.
  for (const std::string& each : {flags.output, flags.plot})
    if (!each.empty())
      static_cast<void>(createFile(each));

  TuneStatus status;
  program::RunContext preparation;
  std::optional<RunInterruption> preparing(std::in_place, preparation);
  std::shared_ptr<mlir::MLIRContext> context = session::makeContext();
  session::ProgramFile file = orThrow(session::readProgramFile(flags.program, *context));
  const std::shared_ptr<FormatTrials> trials =
      orThrow(FormatTrials::make(context, std::move(file), std::move(trialOptions)), flags.program);
  InputSets sets = bindSets(trials->arguments(), flags.inputs, "@" + trials->name());
  std::optional<MetricCommand> metric;
  if (!flags.metric.empty()) {
    metric.emplace(flags.metric, sets.names, trials->resultNames());
    options.metric = [&](const FormatTrials::Outputs& outputs) { return (*metric)(outputs); };
    options.metricText = flags.metric;
  }
  trials->setInputs(std::move(sets.values));
  // Up to here an interruption ends the process; from here on the measurements are kept.
  if (Interruption::isAsked())
    reportInterruption(flags, 0);
  preparing.reset();
  const Interruption interruption;
  options.state = flags.output + ".state";
  options.host.isInterrupted = Interruption::isAsked;
  options.progress = [&](const session::TuningProgress& progress) { status.take(progress); };
  const session::TuningResult result =
      orThrow(session::tuneFormats(trials, options), flags.program);
  if (result.search.isEnded)
    reportInterruption(flags, result.search.measured.size());

  TuneReport report{.program = flags.program,
                    .trials = trials.get(),
                    .budget = budget,
                    .cost = options.cost,
                    .result = &result,
                    .seconds = 0,
                    .recipe = flags.output};
  const analysis::Choice& chosen = report.chosen().choice;
  for (const auto& [at, seconds] : result.timed)
    if (&result.search.measured[at] == &report.chosen())
      report.runs.emplace(result.timed.front().second, seconds);
  report.seconds = status.seconds();
  writeText(flags.output,
            transforms::recipeText(
                trials->rules(chosen, fmt::format("octavo tune: {}", analysis::text(budget))),
                std::filesystem::path(flags.output).parent_path()));
  if (!flags.plot.empty())
    writeText(flags.plot, plot(report));
  printText(flags.isJson ? json(report) : text(report));
  if (!report.isMet())
    throw CommandError(
        fmt::format("the budget {} cannot be met with these formats: the best found has {} {}; its "
                    "recipe is {}, and what was measured is kept in {} for a run with another "
                    "budget",
                    analysis::text(budget), analysis::nameOf(budget.metric),
                    valueText(budget, report.value(report.chosen().loss)), flags.output,
                    options.state.string()),
        ExitCode::CheckFailed);
  std::error_code ignored;
  std::filesystem::remove(options.state, ignored);
}

} // namespace

void addTuneCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "tune", "Choose a format for each matrix product within an error budget, and write a recipe");
  auto flags = std::make_shared<TuneFlags>();
  readsPath(command->add_option("PROGRAM", flags->program, "StableHLO, as `octavo run` takes it")
                ->type_name("FILE")
                ->required());
  takesNoPath(
      command
          ->add_option(
              "--budget", flags->budget,
              "The bound to keep: METRIC >= NUMBER or METRIC <= NUMBER; metrics: cosine (of "
              "each row with f32's, the worst), relative, sqnr (dB), max, and metric, the "
              "number of --metric")
          ->type_name("TEXT")
          ->required());
  writesPath(command->add_option("-o,--output", flags->output, "Where the recipe is written")
                 ->type_name("RECIPE.json")
                 ->required(),
             {.besides = {".state"}});
  readsPath(
      command
          ->add_option("--weights", flags->inputs.weights,
                       "Weights: tensors for the arguments of the same names; may be repeated")
          ->type_name("FILE.safetensors")
          ->allow_extra_args(false));
  readsPath(command
                ->add_option(
                    "--input", flags->inputs.inputs,
                    "An array for the named argument, or for the next one that is not a weight; or "
                    "tensors by name. May be repeated")
                ->type_name("NAME=FILE.npy|FILE.npy|FILE.safetensors")
                ->allow_extra_args(false),
            ReadForm::Named);
  readsPath(command
                ->add_option("--inputs", flags->inputs.sets,
                             "A set of inputs, or a folder of sets, as `octavo calibrate` takes "
                             "them; --input is of "
                             "every set. May be repeated")
                ->type_name("FOLDER|[NAME=]FILE[,[NAME=]FILE]...")
                ->allow_extra_args(false),
            ReadForm::NamedList, {.noun = "inputs"});
  command->add_flag("--ignore-unused", flags->inputs.ignoresUnused,
                    "Ignore tensors of --weights that no argument uses");
  command->add_option("--function", flags->function, "Function to run instead of @main")
      ->type_name("NAME");
  command
      ->add_option("--formats", flags->formats,
                   fmt::format("Candidates: scaled formats of weights, as WEIGHTS, "
                               "WEIGHTS/ACTIVATIONS (a format or none) or "
                               "WEIGHTS/ACTIVATIONS/RULE, with +migrated and "
                               "+static of --calibration at the end; default: {}, and of a "
                               "calibration all that it can make static and migrate",
                               fmt::join(
                                   [] {
                                     std::vector<std::string> names;
                                     for (const auto& formats :
                                          transforms::inferenceFormats(nullptr))
                                       names.push_back(transforms::nameOf(formats));
                                     return names;
                                   }(),
                                   ", ")))
      ->type_name("FORMAT,...")
      ->allow_extra_args(false);
  readsPath(
      command
          ->add_option("--calibration", flags->dots.calibration,
                       "What `octavo calibrate` wrote: static scales and migrated columns are "
                       "candidates, too")
          ->type_name("FILE.json"));
  command
      ->add_option("--cost", flags->cost,
                   "What to minimize: bytes of the weights, or time of a run on this machine")
      ->type_name("bytes|time")
      ->capture_default_str();
  command
      ->add_option("--metric", flags->metric,
                   "A command whose last line is the metric; it finds {outputs}/SET/OUTPUT.npy")
      ->type_name("COMMAND");
  writesPath(
      command->add_option("--plot", flags->plot, "Also write a picture of cost against error")
          ->type_name("FILE.svg"));
  command
      ->add_option("--backend", flags->backend,
                   "What evaluates the program: compiled, or reference, the interpreter")
      ->type_name("NAME")
      ->capture_default_str();
  command
      ->add_option(
          "--tries", flags->tries,
          fmt::format("Runs for choices that predictions left out; default: all that would "
                      "be cheaper where there are at most {} choices, else 128 or four a "
                      "dot",
                      analysis::kFewChoices))
      ->type_name("N");
  command->add_flag("--json", flags->isJson, "Print JSON");
  addThreadsOption(*command, flags->threads);
  addWhichDotsFlags(*command, flags->dots);
  command->footer(R"(Examples:
  octavo tune model.mlir --weights model.safetensors --input ids.npy --budget "cosine >= 0.99" \
              -o mixed.json --plot mixed.svg
  octavo tune model.mlir --weights model.safetensors --inputs batches \
              --metric "python score.py {outputs}" --budget "metric >= 0.8" -o mixed.json
  octavo run model.mlir --weights model.safetensors --input ids.npy --recipe mixed.json --compare f32
It keeps what it measured in RECIPE.json.state; interrupted, the same command goes on from there.)");
  command->callback([flags] { tuneProgram(*flags); });
}

} // namespace octavo::tools
