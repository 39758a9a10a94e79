#include "tools/octavo/program/TunePlot.h"

#include "octavo/Base/PrintableText.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace octavo::tools {

namespace {

using analysis::MeasuredChoice;

// In pixels at the picture's natural size.
constexpr double kWidth = 900;
constexpr double kLeft = 92, kRight = 30;
constexpr double kTop = 84, kPlot = 380;
constexpr double kFoot = 64;
constexpr double kLine = 17; ///< height of a dot's line
constexpr double kNames = 400, kBars = 300;
constexpr double kLabel = 13; ///< height of a label

/// Colours of the candidates, in order; a palette for readers who cannot distinguish red and green
/// (Okabe and Ito; the last ones are lighter).
constexpr std::array<std::string_view, 10> kColours = {"#bbbbbb", "#0072b2", "#56b4e9", "#009e73",
                                                       "#e69f00", "#d55e00", "#cc79a7", "#f0e442",
                                                       "#7f6fb0", "#8c6d31"};

std::string_view colour(std::size_t candidate) {
  return candidate == 0 ? kColours[0] : kColours[1 + (candidate - 1) % (kColours.size() - 1)];
}

std::string escapedText(std::string_view text) {
  std::string out;
  for (char letter : base::printable(text))
    out += letter == '&' ? "&amp;" : letter == '<' ? "&lt;" : std::string(1, letter);
  return out;
}

struct Tick {
  double at; ///< the value's position
  std::string text;
};

/// Maps values to pixels, linearly in `of(value)`.
struct Scale {
  std::function<double(double)> of;
  double low, high;     ///< range of `of`
  double begin, length; ///< in pixels; `length` may be negative
  std::vector<Tick> ticks;

  double place(double value) const {
    return begin + length * std::clamp((of(value) - low) / (high - low), 0.0, 1.0);
  }
};

/// The step of 1, 2, 5, 10, ... that gives about 6 ticks in the range.
double stepFor(double range) {
  const double rough = range / 6, power = std::pow(10, std::floor(std::log10(rough)));
  for (double step : {1.0, 2.0, 5.0})
    if (step * power >= rough)
      return step * power;
  return 10 * power;
}

class Picture {
public:
  explicit Picture(const TuneReport& report)
      : report(report), measured(report.result->search.measured) {}

  std::string draw();

private:
  Scale costScale() const;
  Scale lossScale() const;
  double unit() const { return report.cost == session::TuningCost::Bytes ? 1e6 : 1e-3; }
  std::string title(const MeasuredChoice& choice) const;
  void drawAxes(const Scale& x, const Scale& y);
  void drawChoices(const Scale& x, const Scale& y);
  void drawUniform(const Scale& x, const Scale& y);
  void drawDots(double top);

  const TuneReport& report;
  const std::vector<MeasuredChoice>& measured;
  std::string svg;
};

Scale Picture::costScale() const {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const MeasuredChoice& choice : measured) {
    low = std::min(low, choice.cost / unit());
    high = std::max(high, choice.cost / unit());
  }
  low = std::max(low, high * 1e-6);
  Scale scale{.of = [](double value) { return std::log(std::max(value, 1e-300)); },
              .low = std::log(low) - 0.05,
              .high = std::log(std::max(high, low * 1.01)) + 0.05,
              .begin = kLeft,
              .length = kWidth - kLeft - kRight,
              .ticks = {}};
  // Few enough to be readable: 1, 1.5, 2, 3, 4, 6, 8 of each power of ten.
  for (int power = -9; power < 13; ++power)
    for (double digit : {1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0}) {
      const double value = digit * std::pow(10, power);
      if (std::log(value) >= scale.low && std::log(value) <= scale.high)
        scale.ticks.push_back({value, fmt::format("{:g}", value)});
    }
  return scale;
}

/// Logarithmic; linear for a user's metric, whose losses can be 0 or negative.
Scale Picture::lossScale() const {
  const bool isOwn = report.budget.metric == analysis::Metric::Own;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  const double limit = analysis::lossOf(report.budget, report.budget.bound, report.result->origin);
  const auto include = [&](double loss) {
    if (!std::isfinite(loss) || (!isOwn && loss <= 0))
      return;
    low = std::min(low, loss);
    high = std::max(high, loss);
  };
  include(limit);
  for (const MeasuredChoice& choice : measured)
    include(choice.loss);
  if (low > high)
    low = high = 1;
  Scale scale{.of = isOwn ? std::function<double(double)>([](double loss) { return loss; })
                          : [](double loss) { return std::log10(std::max(loss, 1e-300)); },
              .low = 0,
              .high = 0,
              .begin = kTop + kPlot,
              .length = -kPlot,
              .ticks = {}};
  const auto tick = [&](double loss) {
    const double value = analysis::valueOf(report.budget, loss, report.result->origin);
    scale.ticks.push_back({loss, valueText(report.budget, value)});
  };
  if (isOwn) {
    const double margin = std::max((high - low) * 0.06, std::abs(high) * 1e-6 + 1e-12);
    scale.low = low - margin;
    scale.high = high + margin;
    const double step = stepFor(scale.high - scale.low);
    for (double at = std::ceil(scale.low / step) * step; at <= scale.high; at += step)
      tick(at);
    return scale;
  }
  scale.low = std::floor(std::log10(low)) - 0.3; // room for choices without loss
  scale.high = std::log10(high) + 0.15;
  const double step = std::max(1.0, std::ceil((scale.high - scale.low) / 9));
  for (double at = std::ceil(scale.low); at <= scale.high; at += step)
    tick(std::pow(10, at));
  return scale;
}

std::string Picture::title(const MeasuredChoice& choice) const {
  return fmt::format("{:.3f} {}, {} {}: {}", choice.cost / unit(),
                     report.cost == session::TuningCost::Bytes ? "MB" : "ms",
                     analysis::nameOf(report.budget.metric),
                     valueText(report.budget, report.value(choice.loss)),
                     escapedText(report.formatCounts(choice.choice)));
}

void Picture::drawAxes(const Scale& x, const Scale& y) {
  for (const Tick& tick : y.ticks)
    svg += fmt::format("<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' class='grid'/>"
                       "<text x='{3}' y='{4:.1f}' class='end'>{5}</text>\n",
                       kLeft, kWidth - kRight, y.place(tick.at), kLeft - 8, y.place(tick.at) + 4,
                       tick.text);
  for (const Tick& tick : x.ticks)
    svg += fmt::format("<line x1='{0:.1f}' x2='{0:.1f}' y1='{1}' y2='{2}' class='grid'/>"
                       "<text x='{0:.1f}' y='{3}' class='middle'>{4}</text>\n",
                       x.place(tick.at), kTop, kTop + kPlot, kTop + kPlot + 18, tick.text);
  svg += fmt::format("<text x='{}' y='{}' class='middle'>{}</text>\n",
                     (kLeft + kWidth - kRight) / 2, kTop + kPlot + 38,
                     report.cost == session::TuningCost::Bytes
                         ? "weights of the tuned dots, MB"
                         : "time of a run, ms (predicted from dots of the same sizes)");
  svg += fmt::format("<text x='{}' y='{}'>{} (better is lower)</text>\n", kLeft, kTop - 10,
                     analysis::nameOf(report.budget.metric));
  const double limit = analysis::lossOf(report.budget, report.budget.bound, report.result->origin);
  if (std::isfinite(y.of(limit)))
    svg += fmt::format("<line x1='{0}' x2='{1}' y1='{2:.1f}' y2='{2:.1f}' class='budget'/>"
                       "<text x='{1}' y='{3:.1f}' class='end budget-text'>budget {4}</text>\n",
                       kLeft, kWidth - kRight, y.place(limit), y.place(limit) - 5,
                       escapedText(analysis::text(report.budget)));
}

void Picture::drawChoices(const Scale& x, const Scale& y) {
  const auto at = [&](const MeasuredChoice& choice) {
    return std::pair(x.place(choice.cost / unit()), y.place(choice.loss));
  };
  for (const MeasuredChoice& choice : measured)
    if (std::isfinite(choice.loss)) {
      const auto [cx, cy] = at(choice);
      svg += fmt::format("<circle cx='{:.1f}' cy='{:.1f}' r='2' class='tried'/>\n", cx, cy);
    }
  std::string line;
  double before = 0;
  const std::vector<std::size_t> front = analysis::front(measured);
  for (std::size_t each : front) {
    const auto [px, py] = at(measured[each]);
    line += line.empty() ? fmt::format("M{:.1f} {:.1f}", px, py)
                         : fmt::format("L{0:.1f} {2:.1f}L{0:.1f} {1:.1f}", px, py, before);
    before = py;
  }
  svg += fmt::format("<path d='{}' class='front'/>\n", line);
  for (std::size_t each : front) {
    const auto [px, py] = at(measured[each]);
    svg += fmt::format(
        "<circle cx='{:.1f}' cy='{:.1f}' r='3.4' class='of-front'><title>{}</title></circle>\n", px,
        py, title(measured[each]));
  }
  const auto [cx, cy] = at(report.chosen());
  svg += fmt::format("<circle cx='{0:.1f}' cy='{1:.1f}' r='8' class='chosen'><title>{2}</title>"
                     "</circle>\n",
                     cx, cy, title(report.chosen()));
}

/// Draws a mark and a name for each uniform format. Names that would overlap move down.
void Picture::drawUniform(const Scale& x, const Scale& y) {
  struct Label {
    double px, py, top;
    std::string text, title;
  };
  std::vector<Label> labels;
  const auto add = [&](const MeasuredChoice& choice, const std::string& name) {
    if (!std::isfinite(choice.loss))
      return;
    const double py = y.place(choice.loss);
    labels.push_back({x.place(choice.cost / unit()), py, py - kLabel / 2, name, title(choice)});
  };
  add(measured.front(), "f32");
  for (std::size_t each : report.result->uniform)
    add(measured[each], report.trials->candidateName(measured[each].choice.front()));
  std::ranges::sort(labels, {}, &Label::py);
  const auto width = [](const Label& label) {
    return 24 + 7 * static_cast<double>(label.text.size());
  };
  for (std::size_t i = 0; i < labels.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (labels[i].px < labels[j].px + width(labels[j]) &&
          labels[j].px < labels[i].px + width(labels[i]) && labels[i].top < labels[j].top + kLabel)
        labels[i].top = std::max(labels[i].top, labels[j].top + kLabel);
  for (const Label& label : labels) {
    const bool isLeft = label.px + width(label) > kWidth - 4;
    const double edge = label.px + (isLeft ? -12 : 12);
    svg += fmt::format("<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' class='leader'/>"
                       "<rect x='{:.1f}' y='{:.1f}' width='8' height='8' class='uniform'>"
                       "<title>{}</title></rect><text x='{:.1f}' y='{:.1f}' class='{}'>{}</text>\n",
                       label.px, label.py, edge, label.top + kLabel / 2, label.px - 4, label.py - 4,
                       label.title, edge + (isLeft ? -2 : 2), label.top + kLabel - 2,
                       isLeft ? "name end" : "name", escapedText(label.text));
  }
}

/// Draws for each dot its name, its format, and a bar as long as the bits of a weight.
void Picture::drawDots(double top) {
  svg += fmt::format("<text x='16' y='{:.1f}' class='head'>Format of each dot, bits of a "
                     "weight</text>\n",
                     top);
  double most = 1;
  const auto bitsOf = [&](const session::TrialDot& dot, std::size_t candidate) {
    return dot.weightElements == 0 ? 0
                                   : static_cast<double>(dot.weightBits[candidate]) /
                                         static_cast<double>(dot.weightElements);
  };
  const auto& dots = report.trials->dots();
  const analysis::Choice& choice = report.chosen().choice;
  for (std::size_t i = 0; i < dots.size(); ++i)
    most = std::max(most, bitsOf(dots[i], choice[i]));
  constexpr std::size_t kMostName = 58;
  for (std::size_t i = 0; i < dots.size(); ++i) {
    const double y = top + 12 + kLine * static_cast<double>(i);
    std::string name = base::printable(dots[i].dots.front().name);
    if (name.size() > kMostName)
      name = "..." + name.substr(name.size() - kMostName + 3);
    const double bits = bitsOf(dots[i], choice[i]);
    const double length = kBars * bits / most;
    svg += fmt::format("<text x='16' y='{:.1f}' class='small'>{}</text>"
                       "<rect x='{}' y='{:.1f}' width='{:.1f}' height='{}' fill='{}'/>"
                       "<text x='{:.1f}' y='{:.1f}' class='small'>{}, {:.2f}</text>\n",
                       y + 12, escapedText(name), kNames, y + 2, length, kLine - 4,
                       colour(choice[i]), kNames + length + 6, y + 12,
                       escapedText(report.trials->candidateName(choice[i])), bits);
  }
}

std::string Picture::draw() {
  const double dotsTop = kTop + kPlot + kFoot + 16;
  const double height = dotsTop + 30 + kLine * static_cast<double>(report.trials->dots().size());
  svg = fmt::format(
      "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {0} {1:.0f}' width='{0}' "
      "height='{1:.0f}' style='max-width:100%;height:auto'>\n"
      "<style>text{{font:13px sans-serif;fill:#222}}.small{{font-size:11.5px}}"
      ".title{{font-size:17px;font-weight:bold}}.head{{font-size:15px;font-weight:bold}}"
      ".end{{text-anchor:end}}.middle{{text-anchor:middle}}.grid{{stroke:#e4e4e4}}"
      ".tried{{fill:#c4c4c4}}.front{{fill:none;stroke:#0072b2;stroke-width:1.5}}"
      ".of-front{{fill:#0072b2}}.uniform{{fill:#444}}.leader{{stroke:#999;stroke-width:.7}}"
      ".name{{paint-order:stroke;stroke:#fff;stroke-width:3px}}"
      ".chosen{{fill:none;stroke:#d55e00;stroke-width:2.5}}"
      ".budget{{stroke:#d55e00;stroke-dasharray:6 4}}.budget-text{{fill:#b04a00}}</style>\n"
      "<rect width='{0}' height='{1:.0f}' fill='#fff'/>\n"
      "<text x='16' y='28' class='title'>octavo tune: {2}</text>\n",
      kWidth, height, escapedText(report.program));
  svg += fmt::format(
      "<text x='16' y='48'>grey: {} choices measured; blue: the front; squares: all dots alike; "
      "ring: {}</text>\n",
      measured.size(), report.isMet() ? "chosen" : "the best found, beyond the budget");
  const Scale x = costScale(), y = lossScale();
  drawAxes(x, y);
  drawChoices(x, y);
  drawUniform(x, y);
  drawDots(dotsTop);
  return svg + "</svg>\n";
}

} // namespace

std::string plot(const TuneReport& report) { return Picture(report).draw(); }

} // namespace octavo::tools
