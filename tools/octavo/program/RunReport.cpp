#include "tools/octavo/program/RunReport.h"

#include "tools/octavo/program/RunDots.h"

#include "octavo/Session/Trials/DotErrorsJson.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace octavo::tools {

namespace {

using numerics::Tensor;
using Json = nlohmann::ordered_json;

/// Statistics of the finite values.
struct Summary {
  double minimum = std::numeric_limits<double>::quiet_NaN();
  double maximum = std::numeric_limits<double>::quiet_NaN();
  double mean = std::numeric_limits<double>::quiet_NaN();
  std::int64_t nonFinite = 0;
};

Summary summarize(const Tensor& output) {
  const Tensor tensor = program::realNumbers(output);
  Summary summary;
  double sum = 0;
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < tensor.size(); ++i) {
    const double value = program::valueOf(tensor, i);
    if (!std::isfinite(value)) {
      ++summary.nonFinite;
      continue;
    }
    summary.minimum = std::fmin(summary.minimum, value);
    summary.maximum = std::fmax(summary.maximum, value);
    sum += value;
    ++count;
  }
  if (count > 0)
    summary.mean = sum / static_cast<double>(count);
  return summary;
}

/// The first values, row-major, complex ones as their parts: `[1, 2.5, nan]`, with "..." if there
/// are more.
std::string firstValues(const Tensor& output) {
  const Tensor tensor = program::realNumbers(output);
  constexpr std::int64_t kMost = 8;
  std::vector<std::string> values;
  for (std::int64_t i = 0; i < std::min(tensor.size(), kMost); ++i)
    values.push_back(fmt::format("{:.6g}", program::valueOf(tensor, i)));
  if (tensor.size() > kMost)
    values.push_back("...");
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string megabytes(std::uint64_t bytes) {
  return bytes < 100'000 ? fmt::format("{} bytes", bytes)
                         : fmt::format("{:.2f} MB", static_cast<double>(bytes) / 1e6);
}

std::string sizeText(const StoredSize& size) {
  return fmt::format("{} tensor{}, {} values, {} as f32, {} held, {:.3f} bits a value",
                     size.tensors, size.tensors == 1 ? "" : "s", size.values,
                     megabytes(size.bytesAsF32()), megabytes(size.bytes()), size.bitsPerValue());
}

/// Whether a cosine says anything: that of two single numbers is always 1 or -1.
bool hasCosine(const Tensor& tensor) { return tensor.size() != 1; }

std::string comparisonText(const program::Comparison& comparison, const Tensor& output) {
  std::string text = hasCosine(output) ? fmt::format("cosine {:.8f}, ", comparison.cosine) : "";
  text += fmt::format("relative {:.3g}, max {:.3g}", comparison.relative, comparison.maximum);
  if (!comparison.where.empty())
    text += fmt::format(" at [{}]", fmt::join(comparison.where, ", "));
  if (comparison.nonFinite > 0)
    text += fmt::format("; {} NaN or Inf not the same in both", comparison.nonFinite);
  return text;
}

Json textOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json sizeJson(const StoredSize& size) {
  return {{"tensors", size.tensors},
          {"values", size.values},
          {"bytes_f32", size.bytesAsF32()},
          {"bytes", size.bytes()},
          {"bits_per_value", size.bitsPerValue()}};
}

double medianOf(std::vector<double> runs) {
  std::ranges::sort(runs);
  return runs[runs.size() / 2];
}

/// The times of repeated runs; empty if no run was repeated.
std::string repeatedText(const RunTimes& times) {
  if (times.repeated.empty())
    return "";
  return fmt::format("; {} runs more: median {:.6f} s, least {:.6f} s, largest {:.6f} s",
                     times.repeated.size(), medianOf(times.repeated),
                     std::ranges::min(times.repeated), std::ranges::max(times.repeated));
}

Json timesJson(const RunTimes& times) {
  Json seconds{{"prepare", times.prepare}, {"bind", times.bind}, {"evaluate", times.evaluate}};
  if (!times.repeated.empty())
    seconds["repeated"] = times.repeated;
  return seconds;
}

} // namespace

void StoredSize::add(const program::Value& value) {
  ++tensors;
  values += numerics::elementCount(value.isTensor()   ? value.tensor().shape
                                   : value.isUnread() ? value.unread().shape
                                                      : value.scaled().shape);
  bits += program::storedBits(value);
}

double StoredSize::bitsPerValue() const {
  return values == 0 ? 0 : static_cast<double>(bits) / static_cast<double>(values);
}

WeightSizes weightSizes(std::span<const program::Argument> arguments,
                        std::span<const program::Value> values) {
  WeightSizes sizes;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].isParameter)
      continue;
    sizes.all.add(values[i]);
    if (arguments[i].isScaled())
      sizes.quantized.add(values[i]);
  }
  return sizes;
}

std::string text(const DropCounts& counts) {
  return fmt::format("{} of {} tensors that are quantized and dequantized again; values differ by "
                     "the roundings that are left out",
                     counts.dropped, counts.dropped + counts.kept);
}

nlohmann::ordered_json json(const DropCounts& counts) {
  return {{"dropped", counts.dropped}, {"kept", counts.kept}};
}

std::string text(const RunReport& report) {
  std::string text = fmt::format("program    {} @{}\n", report.program, report.function);
  if (const auto& recovery = report.recovery)
    text +=
        fmt::format("recovered  {} of {} dots with narrow tensors behind them{}\n",
                    recovery->narrow, recovery->narrow + recovery->missed,
                    recovery->missed > 0
                        ? fmt::format("; octavo explain {} says what is in the way", report.program)
                        : "");
  if (const auto& quantization = report.quantization) {
    const std::string how =
        !quantization->recipe.empty()
            ? " by the recipe " + quantization->recipe
            : fmt::format(": weights {}, activations {}, scale rule {}", quantization->format,
                          quantization->activations.empty() ? "as they are"
                                                            : quantization->activations,
                          quantization->rule);
    text += fmt::format("quantized  {} of {} dots{}\n", quantization->dotsQuantized,
                        quantization->dots, how);
    if (!quantization->whyLeft.empty())
      text += fmt::format("why        {}\n", quantization->whyLeft);
    if (const std::int64_t others = quantization->others; others > 0)
      text += fmt::format("left       {} product{} of other kinds; octavo quantize --explain says "
                          "which and why\n",
                          others, others == 1 ? "" : "s");
  }
  if (report.drops)
    text += fmt::format("left wide  {}\n", tools::text(*report.drops));
  if (report.weights.all.tensors > 0) {
    text += fmt::format("weights    {}\n", sizeText(report.weights.all));
    if (report.weights.quantized.tensors > 0)
      text += fmt::format("  of them  {}\n", sizeText(report.weights.quantized));
  }
  text += fmt::format("time       bind {:.3f} s, evaluate {:.3f} s{}", report.times.bind,
                      report.times.evaluate, repeatedText(report.times));
  if (report.comparedTimes && !(report.f32Times && report.comparedWith == "f32"))
    text += fmt::format("; {}: bind {:.3f} s, evaluate {:.3f} s", report.comparedWith,
                        report.comparedTimes->bind, report.comparedTimes->evaluate);
  text += "\n";
  if (report.f32Times)
    text += fmt::format(
        "  f32      bind {:.3f} s, evaluate {:.3f} s{}; the median run takes {:.3g} "
        "times as long as f32's\n",
        report.f32Times->bind, report.f32Times->evaluate, repeatedText(*report.f32Times),
        medianOf(report.times.repeated) / medianOf(report.f32Times->repeated));
  else if (!report.times.repeated.empty() && report.quantization && report.quantization->hasState)
    text += "  f32      not run: the program as it is has other arguments\n";
  for (const OutputReport& output : report.outputs) {
    const Summary summary = summarize(*output.tensor);
    text += fmt::format("output     {}{} {}", output.name,
                        output.process ? fmt::format(" of process {}", *output.process) : "",
                        program::describe(output.tensor->type, output.tensor->shape));
    if (std::isfinite(summary.mean))
      text += fmt::format(": min {:.6g}, max {:.6g}, mean {:.6g}", summary.minimum, summary.maximum,
                          summary.mean);
    if (summary.nonFinite > 0)
      text += fmt::format(", {} NaN or Inf", summary.nonFinite);
    text += fmt::format("\n           {}\n", firstValues(*output.tensor));
    if (output.comparison)
      text += fmt::format("  to {:<6}{}{}\n", report.comparedWith,
                          report.comparedWith.size() > 5 ? " " : "",
                          comparisonText(*output.comparison, *output.tensor));
    if (output.ulps)
      text += fmt::format("           {} ulp{}\n", output.ulps->largest,
                          output.ulps->where.empty()
                              ? ""
                              : fmt::format(" at [{}]", fmt::join(output.ulps->where, ", ")));
  }
  if (report.dotErrors)
    text += "\n" + tools::text(*report.dotErrors);
  if (report.profile)
    text += "\n" + tools::text(*report.profile);
  return text;
}

std::string json(const RunReport& report) {
  Json document = {{"program", report.program},
                   {"function", report.function},
                   {"backend", report.backend},
                   {"recovery", nullptr},
                   {"quantization", nullptr},
                   {"scales", report.drops ? tools::json(*report.drops) : Json(nullptr)}};
  if (const auto& recovery = report.recovery)
    document["recovery"] = {
        {"narrow", recovery->narrow}, {"missed", recovery->missed}, {"seconds", recovery->seconds}};
  if (const auto& quantization = report.quantization)
    document["quantization"] = {{"recipe", textOrNull(quantization->recipe)},
                                {"weights", textOrNull(quantization->format)},
                                {"activations", textOrNull(quantization->activations)},
                                {"rule", textOrNull(quantization->rule)},
                                {"dots", quantization->dots},
                                {"dots_quantized", quantization->dotsQuantized},
                                {"others", quantization->others},
                                {"seconds", quantization->seconds}};
  document["weights"] = sizeJson(report.weights.all);
  document["weights"]["quantized"] = sizeJson(report.weights.quantized);
  document["seconds"] = timesJson(report.times);
  document["f32_seconds"] = report.f32Times ? timesJson(*report.f32Times) : Json(nullptr);
  if (report.comparedTimes)
    document[report.comparedWith + "_seconds"] = timesJson(*report.comparedTimes);
  document["outputs"] = Json::array();
  for (const OutputReport& output : report.outputs) {
    const Summary summary = summarize(*output.tensor);
    Json entry = {{"name", output.name},
                  {"type", output.tensor->type.name()},
                  {"shape", output.tensor->shape},
                  {"min", summary.minimum},
                  {"max", summary.maximum},
                  {"mean", summary.mean},
                  {"non_finite", summary.nonFinite},
                  {"f32", nullptr}};
    if (output.process)
      entry["process"] = *output.process;
    if (const auto& comparison = output.comparison)
      entry[report.comparedWith] = {
          {"cosine", hasCosine(*output.tensor) ? Json(comparison->cosine) : Json(nullptr)},
          {"relative", comparison->relative},
          {"max", comparison->maximum},
          {"max_index", comparison->where},
          {"non_finite", comparison->nonFinite}};
    if (output.ulps) {
      entry["reference"]["ulps"] = output.ulps->largest;
      entry["reference"]["ulps_index"] = output.ulps->where;
    }
    document["outputs"].push_back(std::move(entry));
  }
  if (report.profile)
    document["profile"] = json(*report.profile);
  if (report.dotErrors)
    document["per_op"] = session::json(*report.dotErrors);
  // Names in a program can have any bytes; those that are not UTF-8 are replaced.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace octavo::tools
