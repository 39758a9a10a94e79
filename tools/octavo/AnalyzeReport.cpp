#include "tools/octavo/AnalyzeReport.h"

#include "tools/octavo/TextTable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace octavo::tools {

namespace {

using analysis::BoundRange;
using analysis::ErrorFigures;
using analysis::ErrorRow;
using analysis::kRfcErrors;
using analysis::PublishedError;
using analysis::RangeScan;
using Json = nlohmann::ordered_json;

std::string numberText(double number, int digits, int width) {
  return std::isfinite(number) ? fmt::format("{:{}.{}f}", number, width, digits)
                               : fmt::format("{:>{}}", number > 0 ? "exact" : "-", width);
}

std::string bytesText(const ErrorRow& row) {
  return row.bytesPerBlock ? fmt::format("{:11g}", *row.bytesPerBlock) : fmt::format("{:>11}", "-");
}

/// Error, QSNR, clipped blocks and lost values as text.
std::array<std::string, 4> figuresText(const ErrorFigures& figures) {
  return {numberText(100 * figures.meanRelativeError, 2, 7), numberText(figures.qsnr, 2, 7),
          numberText(100 * figures.clippedBlocks, 1, 9), std::to_string(figures.lost)};
}

/// Whether any row loses values; only then a column shows how many. It is rare.
bool losesValues(const AnalyzedSource& source) {
  return std::ranges::any_of(source.rows, [](const ErrorRow& row) { return row.figures.lost > 0; });
}

TextTable errorTable(const AnalyzedSource& source) {
  const bool hasLost = losesValues(source);
  TextTable table = {{"format", "bits/value", "bytes/block", "rule or preset", "error %", "QSNR dB",
                      "clipped %", "same"}};
  if (hasLost)
    table.front().insert(table.front().end() - 1, "lost");
  for (const FormatRows& format : distinctRows(source))
    for (const DistinctRow& line : format.rows) {
      const bool isFirst = &line == &format.rows.front();
      const std::array<std::string, 4> shown = figuresText(line.row->figures);
      const analysis::Recipe& recipe = line.row->recipe;
      table.push_back({isFirst ? std::string(format.format->name) : "",
                       isFirst ? fmt::format("{:10.4g}", line.row->bitsPerValue) : "",
                       isFirst ? bytesText(*line.row) : "",
                       std::string(recipe.preset.empty() ? recipe.ruleName() : recipe.preset),
                       shown[0], shown[1], shown[2], shown[3],
                       fmt::format("{}", fmt::join(line.samePresets, ", "))});
      if (!hasLost)
        table.back().erase(table.back().end() - 2);
    }
  return table;
}

std::string zerosText(const AnalyzedSource& source) {
  const std::int64_t zeros = source.rows.empty() ? 0 : source.rows.front().figures.zeros;
  return zeros == 0 ? ""
                    : fmt::format(", {} of them zeros, which have no relative error and are left "
                                  "out of its mean",
                                  zeros);
}

std::string boundsText(std::span<const BoundRange> ranges) {
  if (ranges.empty())
    return "none";
  std::vector<std::string> texts;
  for (const BoundRange& range : ranges)
    texts.push_back(range.first == range.last
                        ? fmt::format("{:.2f}", range.first)
                        : fmt::format("{:.2f} to {:.2f}", range.first, range.last));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string publishedText(const PublishedError& figure) {
  return fmt::format("{:.{}f}", figure.percent, figure.unit < 1 ? 1 : 0);
}

/// The formats whose published figure the scan reproduces at this bound; if not `areGiven`, those
/// that it does not.
std::vector<std::string> formatsAt(const RangeScan& scan, std::size_t boundIndex, bool areGiven) {
  std::vector<std::string> names;
  for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure)
    if (kRfcErrors[figure].isGivenBy(scan.percent[figure][boundIndex]) == areGiven)
      names.emplace_back(kRfcErrors[figure].format);
  return names;
}

TextTable rangeTable(const RangeScan& scan) {
  const std::size_t best = scan.bestBound();
  TextTable table = {{"format", "RFC %", "a = 1.00",
                      fmt::format("a = {:.2f}", analysis::bound(best)),
                      "the RFC's figure comes from a ="}};
  for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure)
    table.push_back({std::string(kRfcErrors[figure].format),
                     fmt::format("{:>5}", publishedText(kRfcErrors[figure])),
                     fmt::format("{:8.2f}", scan.percent[figure][0]),
                     fmt::format("{:8.2f}", scan.percent[figure][best]),
                     boundsText(scan.boundsThatGive(figure))});
  return table;
}

std::string bestBoundText(const RangeScan& scan) {
  const std::size_t best = scan.bestBound();
  const std::vector<std::string> missed = formatsAt(scan, best, false);
  if (missed.empty())
    return fmt::format("U(-{0:.2f}, {0:.2f}) gives all {1} figures.", analysis::bound(best),
                       kRfcErrors.size());
  return fmt::format("No range gives all {} figures. U(-{:.2f}, {:.2f}) gives {} of them, but not "
                     "{}.",
                     kRfcErrors.size(), analysis::bound(best), analysis::bound(best),
                     scan.figuresGivenAt(best), fmt::join(missed, ", "));
}

TextTable otherRulesTable(std::span<const RangeScan> scans) {
  TextTable table = {{"rule", "best a", "figures given", "missed there"}};
  for (const RangeScan& scan : scans) {
    const std::size_t best = scan.bestBound();
    table.push_back({std::string(format::scaleRuleName(scan.rule)),
                     fmt::format("{:6.2f}", analysis::bound(best)),
                     fmt::format("{} of {}", scan.figuresGivenAt(best), kRfcErrors.size()),
                     fmt::format("{}", fmt::join(formatsAt(scan, best, false), ", "))});
  }
  return table;
}

Json rowJson(const ErrorRow& row) {
  return {{"format", row.recipe.format->name},
          {"rule", row.recipe.ruleName()},
          {"preset", row.recipe.preset.empty() ? Json() : Json(row.recipe.preset)},
          {"mean_relative_error", row.figures.meanRelativeError},
          {"qsnr_db", row.figures.qsnr},
          {"clipped_blocks", row.figures.clippedBlocks},
          {"bits_per_value", row.bitsPerValue},
          {"bytes_per_block", row.bytesPerBlock ? Json(*row.bytesPerBlock) : Json()},
          {"zeros", row.figures.zeros},
          {"lost", row.figures.lost}};
}

} // namespace

std::vector<FormatRows> distinctRows(const AnalyzedSource& source) {
  std::vector<FormatRows> formats;
  for (const ErrorRow& row : source.rows) {
    if (formats.empty() || formats.back().format != row.recipe.format)
      formats.push_back({row.recipe.format, {}});
    std::vector<DistinctRow>& rows = formats.back().rows;
    // Of several rows with the same figures, the row of the preset's own rule.
    DistinctRow* same = nullptr;
    for (DistinctRow& each : rows)
      if (!row.recipe.preset.empty() &&
          figuresText(each.row->figures) == figuresText(row.figures) &&
          (!same || each.row->recipe.options.rule == row.recipe.options.rule))
        same = &each;
    if (same)
      same->samePresets.push_back(row.recipe.preset);
    else
      rows.push_back({&row, {}});
  }
  return formats;
}

std::string text(std::span<const AnalyzedSource> sources) {
  std::string text;
  for (const AnalyzedSource& source : sources) {
    text += fmt::format("{}: {} values{}{}\n\n{}\n", source.name, fmt::join(source.shape, " x "),
                        source.seed ? fmt::format(", SplitMix64 from {}", *source.seed) : "",
                        zerosText(source), plainText(errorTable(source)));
  }
  text += "error: mean of |y - x| / |x|. QSNR: 10 log10(sum of x^2 / sum of (y - x)^2). clipped: "
          "blocks with\na value beyond the largest element times the scale. same: presets with the "
          "same figures.\n";
  if (std::ranges::any_of(sources, losesValues))
    text += "lost: values that become NaN or infinite; error and QSNR are those of the others.\n";
  return text;
}

std::string json(std::span<const AnalyzedSource> sources) {
  Json array = Json::array();
  for (const AnalyzedSource& source : sources) {
    Json rows = Json::array();
    for (const ErrorRow& row : source.rows)
      rows.push_back(rowJson(row));
    array.push_back({{"name", source.name},
                     {"shape", source.shape},
                     {"seed", source.seed ? Json(*source.seed) : Json()},
                     {"rows", std::move(rows)}});
  }
  return Json{{"sources", std::move(array)}}.dump(2) + "\n";
}

std::string text(std::span<const RangeScan> scans) {
  return fmt::format("Mean relative error of quantize and dequantize on \"an uniform "
                     "distribution\" whose range is "
                     "not given:\nthe XLA RFC \"Microscaling (MX) types in XLA\", and octavo on "
                     "U(-a, a) for every "
                     "a of 1.00, 1.01 ... 1.99.\n(2 a gives what a gives: every scale doubles.)\n\n"
                     "The RFC's scales, rule {}:\n\n{}\n{}\n\nEvery rule:\n\n{}",
                     format::scaleRuleName(scans.front().rule),
                     plainText(rangeTable(scans.front())), bestBoundText(scans.front()),
                     plainText(otherRulesTable(scans)));
}

std::string json(std::span<const RangeScan> scans) {
  Json rules = Json::array();
  for (const RangeScan& scan : scans) {
    Json figures = Json::array();
    const std::size_t best = scan.bestBound();
    for (std::size_t figure = 0; figure < kRfcErrors.size(); ++figure) {
      Json ranges = Json::array();
      for (const BoundRange& range : scan.boundsThatGive(figure))
        ranges.push_back({range.first, range.last});
      figures.push_back({{"format", kRfcErrors[figure].format},
                         {"rfc_percent", kRfcErrors[figure].percent},
                         {"percent_at_1", scan.percent[figure][0]},
                         {"percent_at_best", scan.percent[figure][best]},
                         {"bounds_that_give_it", std::move(ranges)}});
    }
    rules.push_back({{"rule", format::scaleRuleName(scan.rule)},
                     {"best_bound", analysis::bound(best)},
                     {"figures_given_at_best", scan.figuresGivenAt(best)},
                     {"figures", std::move(figures)}});
  }
  return Json{{"rfc", std::move(rules)}}.dump(2) + "\n";
}

} // namespace octavo::tools
