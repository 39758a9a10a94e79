#include "tools/octavo/program/DotFlags.h"

#include "tools/octavo/Commands.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Paths.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Transforms/Quantize/Recipe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace octavo::tools {

namespace {

CLI::Option* group(CLI::Option* option) {
  option->group("Which dots, and how");
  return option;
}

} // namespace

void addDotFlags(CLI::App& command, DotFlags& flags, CLI::Option* format) {
  std::vector<std::string> recipes;
  for (const transforms::NamedRecipe& recipe : transforms::kRecipes)
    recipes.emplace_back(recipe.name);
  CLI::Option* recipe = group(readsPath(
      command
          .add_option("--recipe", flags.recipe,
                      fmt::format("In place of one format: rules that give each dot its format, in "
                                  "a file of JSON or by name: {}",
                                  fmt::join(recipes, ", ")))
          ->type_name("FILE|NAME")));
  recipe->excludes(format);
  recipe->excludes(group(
      command
          .add_option("--activations", flags.activations,
                      "Scaled format of the activations, or none for weights only; default: the "
                      "one that goes with the weights' format")
          ->type_name("FORMAT|none")));
  recipe->excludes(
      group(command
                .add_option(
                    "--rule", flags.rule,
                    fmt::format("How power-of-two scales are chosen: {}; default: the format's own",
                                fmt::join(scaleRuleNames(), ", ")))
                ->type_name("RULE")));
  group(command
            .add_option("--non-finite", flags.nonFinite,
                        fmt::format("What NaN and infinities become: {}; default: error. Beside a "
                                    "recipe: for its rules that do not say it",
                                    fmt::join(numerics::nonFiniteNames(), ", ")))
            ->type_name("POLICY"));
  recipe->excludes(
      group(command
                .add_option("--preset", flags.preset,
                            "Settings that give another library's bytes, in place of --rule and "
                            "--non-finite; `octavo presets` lists them")
                ->type_name("PRESET")));
  CLI::Option* calibration = group(
      readsPath(command
                    .add_option("--calibration", flags.calibration,
                                "Scales of activations as constants, for the ranges that `octavo "
                                "calibrate` found")
                    ->type_name("FILE.json")));
  recipe->excludes(calibration);
  group(command
            .add_option("--range", flags.range,
                        fmt::format("Which range of the calibration: {}; default: amax",
                                    analysis::kRangeSpellings))
            ->type_name("RANGE")
            ->needs(calibration));
  addWhichDotsFlags(command, flags);
  group(command.add_flag("--both-activations", flags.takesActivationPairs,
                         "Also dots of two activations"));
}

void addWhichDotsFlags(CLI::App& command, DotFlags& flags) {
  group(
      command
          .add_option("--match", flags.match, "Only dots whose name or weight's name contains this")
          ->type_name("REGEX"));
  group(command
            .add_option("--exclude", flags.exclude,
                        "Skip dots whose name or weight's name contains this")
            ->type_name("REGEX"));
  group(command
            .add_option("--parameters", flags.parameters,
                        "Treat arguments whose name contains this as weights, besides those marked "
                        "octavo.parameter")
            ->type_name("REGEX"));
  group(command
            .add_option("--min-size", flags.minSize,
                        "Only dots whose weight has at least this many elements")
            ->type_name("N"));
}

std::shared_ptr<const transforms::StaticScales> staticScales(const std::string& path) {
  auto calibration = analysis::readCalibration(path);
  if (!calibration)
    throw CommandError(calibration.error().message(), ExitCode::BadInput);
  return std::make_shared<const transforms::StaticScales>(
      transforms::StaticScales{path, std::move(*calibration), path});
}

transforms::DotOptions dotOptions(const DotFlags& flags) {
  transforms::DotOptions options;
  if (!flags.recipe.empty()) {
    llvm::Expected<transforms::Recipe> recipe = transforms::readRecipe(flags.recipe);
    if (!recipe)
      throw CommandError(llvm::toString(recipe.takeError()), ExitCode::BadInput);
    static_cast<transforms::Recipe&>(options) = std::move(*recipe);
    for (const transforms::DotRule& rule : options.rules)
      for (const auto* scales : {rule.formats.scales.get(), rule.formats.moved.get()})
        if (scales != nullptr && !scales->path.empty())
          alsoReads(scales->path, "in the recipe " + flags.recipe + ":");
  } else if (flags.format.empty()) {
    throw CommandError("give --format FORMAT, or --recipe FILE or NAME", ExitCode::BadUsage);
  } else {
    options.weights = scaledFormatNamed(flags.format);
  }
  if (flags.activations.empty() && options.weights)
    options.activations = transforms::defaultActivations(*options.weights);
  else if (!flags.activations.empty() && flags.activations != "none")
    options.activations = scaledFormatNamed(flags.activations, {"none"});
  if (!flags.rule.empty()) {
    options.rule = format::findScaleRule(flags.rule);
    if (!options.rule)
      throw CommandError(unknownName("scale rule", flags.rule, scaleRuleNames()),
                         ExitCode::BadUsage);
  }
  if (!flags.nonFinite.empty()) {
    options.nonFinite = numerics::findNonFinite(flags.nonFinite);
    if (!options.nonFinite)
      throw CommandError(
          unknownName("policy for NaN and infinities", flags.nonFinite, numerics::nonFiniteNames()),
          ExitCode::BadUsage);
  }
  options.preset = flags.preset;
  if (!flags.calibration.empty())
    options.scales = staticScales(flags.calibration);
  if (!flags.range.empty()) {
    const auto range = analysis::findRangeChoice(flags.range);
    if (!range)
      throw CommandError(fmt::format("no range \"{}\"; available: {} (above 0, at most 100)",
                                     flags.range, analysis::kRangeSpellings),
                         ExitCode::BadUsage);
    options.range = *range;
  }
  options.match = flags.match;
  options.exclude = flags.exclude;
  options.parameters = flags.parameters;
  options.minSize = flags.minSize;
  options.activationPairs = flags.takesActivationPairs ? transforms::ActivationPairs::Quantize
                                                       : transforms::ActivationPairs::Leave;
  if (llvm::Error error = transforms::checkOptions(options))
    throw CommandError(llvm::toString(std::move(error)), ExitCode::BadUsage);
  return options;
}

} // namespace octavo::tools
