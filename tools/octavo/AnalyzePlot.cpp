#include "tools/octavo/AnalyzePlot.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <vector>

namespace octavo::tools {

namespace {

using analysis::ErrorRow;

// In pixels at the picture's natural size.
constexpr double kLabels = 220; ///< width of the formats' names, left of the panels
constexpr double kPanel = 330;
constexpr double kBetween = 34;
constexpr double kLine = 24; ///< height of a format's line
constexpr double kTop = 74;  ///< height of title and legend
constexpr double kHead = 46; ///< height of a source's name and the panels' titles
constexpr double kFoot = 34; ///< height of the ticks
constexpr double kWidth = kLabels + 2 * kPanel + kBetween + 24;

/// Colours of the rules, in the order of kScaleRules; a palette for readers who cannot distinguish
/// red and green (Okabe and Ito).
constexpr std::array<std::string_view, 5> kColours = {"#d55e00", "#56b4e9", "#009e73", "#0072b2",
                                                      "#333333"};
static_assert(kColours.size() == format::kScaleRules.size());

/// The axis of one of the two measures.
struct Axis {
  std::string_view title;
  std::function<double(const ErrorRow&)> value; ///< quantity in which the axis is linear
  std::function<std::string(const ErrorRow&)> label;
  std::vector<double> ticks;
  std::function<std::string(double)> tickLabel;
  double low, high;

  double place(double value) const { return kPanel * (value - low) / (high - low); }
};

std::string escaped(std::string_view text) {
  std::string out;
  for (char letter : text)
    out += letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : std::string(1, letter);
  return out;
}

/// The smallest and the largest finite value of all rows.
std::pair<double, double> limits(std::span<const AnalyzedSource> sources,
                                 const std::function<double(const ErrorRow&)>& value) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const AnalyzedSource& source : sources)
    for (const ErrorRow& row : source.rows)
      if (const double x = value(row); std::isfinite(x)) {
        low = std::min(low, x);
        high = std::max(high, x);
      }
  return low <= high ? std::pair(low, high) : std::pair(0.0, 1.0);
}

Axis qsnrAxis(std::span<const AnalyzedSource> sources) {
  Axis axis{.title = "QSNR, dB (more is better)",
            .value = [](const ErrorRow& row) { return row.figures.qsnr; },
            .label = [](const ErrorRow& row) { return fmt::format("{:.2f} dB", row.figures.qsnr); },
            .ticks = {},
            .tickLabel = [](double value) { return fmt::format("{:g}", value); },
            .low = 0,
            .high = 0};
  const auto [low, high] = limits(sources, axis.value);
  constexpr double kStep = 10;
  axis.low = std::floor(low / kStep) * kStep;
  axis.high = std::max(std::ceil(high / kStep) * kStep, axis.low + kStep);
  for (double tick = axis.low; tick <= axis.high; tick += kStep)
    axis.ticks.push_back(tick);
  return axis;
}

/// Logarithmic, because the error grows tenfold from an 8-bit to a 4-bit format.
Axis errorAxis(std::span<const AnalyzedSource> sources) {
  Axis axis{
      .title = "mean relative error, % (less is better)",
      .value = [](const ErrorRow& row) { return std::log10(100 * row.figures.meanRelativeError); },
      .label =
          [](const ErrorRow& row) {
            return fmt::format("{:.2f} %", 100 * row.figures.meanRelativeError);
          },
      .ticks = {},
      .tickLabel = [](double value) { return fmt::format("{:.3g}", std::pow(10, value)); },
      .low = 0,
      .high = 0};
  const auto [low, high] = limits(sources, axis.value);
  std::vector<double> ticks;
  for (int decade = static_cast<int>(std::floor(low)); decade <= std::ceil(high); ++decade)
    for (double digit : {1, 2, 5})
      ticks.push_back(decade + std::log10(digit));
  const auto first = std::prev(std::ranges::upper_bound(ticks, low));
  auto last = std::ranges::lower_bound(ticks, high);
  last = std::max(last, std::next(first));
  axis.low = *first;
  axis.high = *last;
  axis.ticks.assign(first, std::next(last));
  return axis;
}

std::string_view colour(format::ScaleRule rule) {
  const auto row = std::ranges::find(format::kScaleRules, rule, &format::ScaleRuleRow::rule);
  return kColours[static_cast<std::size_t>(row - format::kScaleRules.begin())];
}

/// A disk for a rule; for a preset a ring in its rule's colour, through which a disk is visible.
std::string mark(const DistinctRow& line, double x, double y, const std::string& label) {
  const analysis::Recipe& recipe = line.row->recipe;
  std::vector<std::string_view> names = line.samePresets;
  names.insert(names.begin(), recipe.preset.empty() ? recipe.ruleName() : recipe.preset);
  return fmt::format("<circle cx='{:.1f}' cy='{:.1f}' {}='{}'><title>{} {}: {}</title></circle>\n",
                     x, y, recipe.preset.empty() ? "r='3.2' fill" : "r='2.6' class='ring' stroke",
                     colour(recipe.options.rule), recipe.format->name, fmt::join(names, ", "),
                     label);
}

std::string panel(const AnalyzedSource& source, const Axis& axis, double left, double top) {
  const std::vector<FormatRows> formats = distinctRows(source);
  const double height = kLine * static_cast<double>(formats.size());
  std::string svg =
      fmt::format("<text class='axis' x='{:g}' y='{:g}'>{}</text>\n", left, top - 10, axis.title);
  for (std::size_t i = 0; i < formats.size(); i += 2)
    svg += fmt::format("<rect class='stripe' x='{:g}' y='{:g}' width='{:g}' height='{:g}'/>\n",
                       left, top + kLine * static_cast<double>(i), kPanel, kLine);
  for (double tick : axis.ticks) {
    const double x = left + axis.place(tick);
    svg += fmt::format("<line class='tick' x1='{0:.1f}' x2='{0:.1f}' y1='{1:g}' y2='{2:g}'/>\n"
                       "<text class='number' x='{0:.1f}' y='{3:g}'>{4}</text>\n",
                       x, top, top + height, top + height + 16, axis.tickLabel(tick));
  }
  for (const FormatRows& format : formats) {
    // The marks of a format are offset vertically, so that equal values do not overlap.
    const auto n = static_cast<double>(format.rows.size());
    const double step = std::min(3.6, (kLine - 8) / n);
    double y = top + kLine * static_cast<double>(&format - formats.data()) + kLine / 2 -
               step * (n - 1) / 2;
    for (const DistinctRow& line : format.rows) {
      if (std::isfinite(axis.value(*line.row)))
        svg += mark(line, left + axis.place(axis.value(*line.row)), y, axis.label(*line.row));
      y += step;
    }
  }
  return svg;
}

std::string labels(const AnalyzedSource& source, double top) {
  std::string svg;
  double y = top + kLine / 2 + 4;
  for (const FormatRows& format : distinctRows(source)) {
    svg += fmt::format("<text x='16' y='{0:g}'>{1}</text>"
                       "<text class='bits' x='{2:g}' y='{0:g}'>{3:.4g} bits</text>\n",
                       y, format.format->name, kLabels - 12, format.rows.front().row->bitsPerValue);
    y += kLine;
  }
  return svg;
}

std::string legend() {
  std::string svg;
  double x = kLabels;
  for (std::size_t i = 0; i < format::kScaleRules.size(); ++i) {
    svg += fmt::format("<circle cx='{:g}' cy='54' r='4.5' fill='{}'/><text x='{:g}' y='58'>{}"
                       "</text>\n",
                       x + 5, kColours[i], x + 15, format::kScaleRules[i].name);
    x += 96;
  }
  return svg + fmt::format("<circle class='ring' cx='{:g}' cy='54' r='4' stroke='#333'/>"
                           "<text x='{:g}' y='58'>preset unlike every rule</text>\n",
                           x + 5, x + 15);
}

} // namespace

std::string plot(std::span<const AnalyzedSource> sources) {
  const Axis axes[] = {qsnrAxis(sources), errorAxis(sources)};
  std::string body;
  double top = kTop;
  for (const AnalyzedSource& source : sources) {
    body += fmt::format("<text class='source' x='16' y='{:g}'>{}</text>\n", top + 20,
                        escaped(source.name));
    top += kHead;
    body += labels(source, top);
    for (std::size_t i = 0; i < std::size(axes); ++i)
      body += panel(source, axes[i], kLabels + static_cast<double>(i) * (kPanel + kBetween), top);
    top += kLine * static_cast<double>(distinctRows(source).size()) + kFoot;
  }
  return fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0:g} {1:g}' width='{0:g}' "
      "height='{1:g}'>\n"
      "<style>text {{ font: 13px system-ui, sans-serif; fill: #222 }} .title {{ font-size: 17px; "
      "font-weight: 600 }} .source {{ font-size: 15px; font-weight: 600 }} .axis {{ fill: #555 }} "
      ".number {{ fill: #555; font-size: 11px; text-anchor: middle }} .bits {{ fill: #777; "
      "font-size: 11px; text-anchor: end }} .stripe {{ fill: #f3f4f6 }} .tick {{ stroke: #d4d7dc "
      "}} .ring {{ fill: none; stroke-width: 1.4 }}</style>\n"
      "<rect width='100%' height='100%' fill='white'/>\n"
      "<text class='title' x='16' y='32'>Error of quantize and dequantize</text>\n"
      "<text x='16' y='58'>scale rule</text>\n{2}{3}</svg>\n",
      kWidth, top, legend(), body);
}

} // namespace octavo::tools
