// octavo analyze: measures the errors of quantizing and dequantizing values
// (docs/commands/analyze.md).

#include "tools/octavo/AnalyzePlot.h"
#include "tools/octavo/AnalyzeReport.h"
#include "tools/octavo/Commands.h"
#include "tools/octavo/ElapsedTime.h"
#include "tools/octavo/FormatNames.h"
#include "tools/octavo/Paths.h"
#include "tools/octavo/Threads.h"
#include "tools/octavo/checkpoint/ReadingFlags.h"

#include "octavo/Analysis/Distribution.h"
#include "octavo/Checkpoint/Files/OutputFile.h"
#include "octavo/Checkpoint/Folder.h"
#include "octavo/Kernels/Widen.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/info.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

namespace octavo::tools {

namespace {

using analysis::Distribution;
using format::ScaledFormat;

/// Samples are a matrix with rows of this length, like the weights of a model.
constexpr std::size_t kColumns = 4096;

struct AnalyzeOptions {
  std::vector<std::string> formats;
  std::vector<std::string> distributions;
  std::string weights;
  std::vector<std::string> tensors;
  std::size_t samples = std::size_t{1} << 22;
  std::uint64_t seed = 42;
  std::string plot;
  bool comparesWithRfc = false;
  bool isJson = false;
  int threads = 0;
};

template <typename T> T orThrow(tl::expected<T, checkpoint::Error> value) {
  if (!value)
    throw CommandError(value.error().message(), ExitCode::BadInput);
  if constexpr (!std::is_void_v<T>)
    return std::move(*value);
}

/// Limits the threads, because TBB prints a warning if more are requested than it has.
kernels::Execution executionOf(const AnalyzeOptions& options) {
  return {.threads = std::min(options.threads, tbb::info::default_concurrency())};
}

/// The formats asked for, all if none was.
std::vector<const ScaledFormat*> formatsOf(const AnalyzeOptions& options) {
  std::vector<const ScaledFormat*> formats;
  for (const ScaledFormat& row : format::kScaledFormats)
    if (options.formats.empty())
      formats.push_back(&row);
  for (const std::string& name : options.formats)
    formats.push_back(scaledFormatNamed(name));
  return formats;
}

std::vector<Distribution> distributionsOf(const AnalyzeOptions& options) {
  if (options.distributions.empty() && options.weights.empty())
    return {analysis::Uniform{-1, 1}, analysis::Normal{}, analysis::StudentT{5}};
  std::vector<Distribution> distributions;
  for (const std::string& spelling : options.distributions) {
    const std::optional<Distribution> found = analysis::findDistribution(spelling);
    if (!found)
      throw CommandError(fmt::format("no distribution \"{}\": expected {}, with LOW < HIGH and "
                                     "DEGREES >= 0.1, for example uniform:-1,1 or student-t:5",
                                     spelling, analysis::kDistributionSpellings),
                         ExitCode::BadUsage);
    distributions.push_back(*found);
  }
  return distributions;
}

AnalyzedSource analyzeSamples(const Distribution& distribution, const AnalyzeOptions& options,
                              std::span<const ScaledFormat* const> formats) {
  const std::size_t columns = std::min(kColumns, options.samples);
  const std::size_t rows = (options.samples + columns - 1) / columns;
  const kernels::Execution execution = executionOf(options);
  AnalyzedSource source{
      .name = analysis::distributionName(distribution),
      .shape = {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)},
      .seed = options.seed,
      .rows = {}};
  const std::vector<float> values =
      analysis::samples(distribution, rows * columns, options.seed, execution);
  source.rows = analysis::measure(values, source.shape, formats, execution);
  return source;
}

/// The tensor's values as f32.
std::vector<float> valuesOf(const checkpoint::StoredTensor& tensor) {
  const checkpoint::SafetensorsEntry& entry = *tensor.entry;
  const std::optional<numerics::ElementType>& type = entry.dtype->type;
  std::optional<kernels::WideType> wide;
  if (type == format::element("f32"))
    wide = kernels::WideType::F32;
  else if (type == format::element("bf16"))
    wide = kernels::WideType::Bf16;
  else if (type == format::element("f16"))
    wide = kernels::WideType::F16;
  if (!wide)
    throw CommandError(
        fmt::format("{}: tensor {}: expected F32, BF16 or F16, found {}; if it is quantized, "
                    "dequantize it first: its codes mean nothing without their scales",
                    tensor.shard->name(), checkpoint::inQuotes(entry.name), entry.dtype->name),
        ExitCode::BadInput);
  const auto bytes = tensor.bytes();
  if (!bytes)
    throw CommandError(bytes.error().message(), ExitCode::BadInput);
  std::vector<float> values(tensor.size() / kernels::wideBytes(*wide));
  kernels::widen(*wide, bytes->data(), values.data(), values.size());
  const auto odd = std::ranges::find_if(values, [](float x) { return !std::isfinite(x); });
  if (odd != values.end())
    throw CommandError(fmt::format("{}: tensor {}: value {} is {}; errors are measured on finite "
                                   "values only",
                                   tensor.shard->name(), checkpoint::inQuotes(entry.name),
                                   odd - values.begin(), *odd),
                       ExitCode::BadInput);
  return values;
}

AnalyzedSource analyzeTensor(const checkpoint::Folder& weights, const std::string& name,
                             const AnalyzeOptions& options,
                             std::span<const ScaledFormat* const> formats) {
  const checkpoint::StoredTensor* tensor = weights.find(name);
  if (!tensor) {
    std::vector<std::string> known;
    for (const checkpoint::StoredTensor& each : weights.tensors())
      known.push_back(each.name());
    throw CommandError(fmt::format("{}: {}", options.weights, unknownName("tensor", name, known)),
                       ExitCode::BadInput);
  }
  AnalyzedSource source{.name = name, .shape = tensor->entry->shape, .seed = {}, .rows = {}};
  if (source.shape.empty())
    source.shape = {1};
  source.rows = analysis::measure(valuesOf(*tensor), source.shape, formats, executionOf(options));
  return source;
}

void writeFile(const std::string& path, const std::string& text) {
  checkpoint::OutputFile file = orThrow(checkpoint::OutputFile::create(path));
  orThrow(file.write(text));
  orThrow(file.commit());
}

void compareWithRfc(const AnalyzeOptions& options) {
  const ElapsedTime time("searching for the RFC's range");
  std::vector<analysis::RangeScan> scans;
  for (const format::ScaleRuleRow& row : format::kScaleRules)
    scans.push_back(analysis::scanRanges(row.rule, executionOf(options)));
  printText(options.isJson ? json(scans) : text(scans));
}

void analyze(const AnalyzeOptions& options) {
  if (options.comparesWithRfc)
    return compareWithRfc(options);
  const std::vector<const ScaledFormat*> formats = formatsOf(options);
  const std::vector<Distribution> distributions = distributionsOf(options);
  std::vector<AnalyzedSource> sources;
  {
    const ElapsedTime time("analyzing");
    for (const Distribution& distribution : distributions)
      sources.push_back(analyzeSamples(distribution, options, formats));
    if (!options.weights.empty()) {
      const checkpoint::Folder weights = openFolder(options.weights);
      for (const std::string& name : options.tensors)
        sources.push_back(analyzeTensor(weights, name, options, formats));
    }
  }
  if (!options.plot.empty())
    writeFile(options.plot, plot(sources));
  printText(options.isJson ? json(sources) : text(sources));
}

} // namespace

void addAnalyzeCommand(CLI::App& app) {
  CLI::App* command = app.add_subcommand(
      "analyze", "Measure the error of every scaled format on distributions or tensors");
  auto options = std::make_shared<AnalyzeOptions>();
  CLI::Option* format = command
                            ->add_option("--format", options->formats,
                                         fmt::format("Only this scaled format; may be repeated: {}",
                                                     fmt::join(scaledFormatNames(), ", ")))
                            ->type_name("FORMAT")
                            ->allow_extra_args(false);
  CLI::Option* distribution =
      command
          ->add_option("--distribution", options->distributions,
                       fmt::format("Values to measure on: {}; may be repeated. "
                                   "Without it and --weights: uniform:-1,1, normal, student-t:5",
                                   analysis::kDistributionSpellings))
          ->type_name("DISTRIBUTION")
          ->allow_extra_args(false);
  CLI::Option* samples =
      command
          ->add_option(
              "--samples", options->samples,
              fmt::format("Samples of a distribution, rounded up to whole rows of {}", kColumns))
          ->type_name("N")
          ->check(CLI::Range(std::size_t{1}, std::size_t{1} << 34))
          ->capture_default_str();
  CLI::Option* seed =
      command->add_option("--seed", options->seed, "Seed of the generator (SplitMix64)")
          ->type_name("N")
          ->capture_default_str();
  CLI::Option* weights = readsPath(
      command->add_option("--weights", options->weights, "Measure on tensors of these weights")
          ->type_name("FILE.safetensors|FOLDER"));
  CLI::Option* tensor = command
                            ->add_option("--tensor", options->tensors,
                                         "A tensor of the weights, blocked along its last axis; "
                                         "may be repeated")
                            ->type_name("NAME")
                            ->allow_extra_args(false)
                            ->needs(weights);
  weights->needs(tensor);
  CLI::Option* plot = writesPath(
      command->add_option("--plot", options->plot, "Write a picture too")->type_name("FILE.svg"));
  CLI::Option* rfc = command->add_flag("--rfc", options->comparesWithRfc,
                                       "Compare with the figures of the XLA RFC on MX types, and "
                                       "search for the range that gives them");
  for (CLI::Option* other : {format, distribution, samples, seed, weights, tensor, plot})
    rfc->excludes(other);
  command->add_flag("--json", options->isJson, "Print JSON");
  addThreadsOption(*command, options->threads);
  command->footer(R"(Examples:
  octavo analyze
  octavo analyze --format mxfp4 --format nvfp4 --distribution student-t:3 --plot errors.svg
  octavo analyze --weights model.safetensors --tensor encoder.layer.0.output.dense.weight
  octavo analyze --rfc)");
  command->callback([options] { analyze(*options); });
}

} // namespace octavo::tools
