// The page of dot errors: a drawing of the network in order, then a card for each dot.
#include "tools/octavo/program/RunDots.h"

#include "octavo/Base/HtmlPage.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <tuple>

namespace octavo::tools {

namespace {

using analysis::QuantizationLoss;
using base::inHtml;
using base::nameInHtml;
using base::tile;
using session::DotError;
using session::DotErrors;

constexpr std::string_view kGenerator = "octavo run";

constexpr std::string_view kStyle = R"(
body{max-width:60rem}
:root{--heat:#c4432b;--cool:#2b7ac4}
@media (prefers-color-scheme:dark){:root{--heat:#ff7a5c;--cool:#6fb1f2}}
svg.net{display:block;width:100%;max-width:34rem;margin:0 auto}
svg.net text{font:600 11px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink)}
svg.net text.figure{font-weight:400;font-size:10.5px;fill:var(--soft)}
svg.net text.group{font-size:11.5px;fill:var(--soft)}
svg.net path{fill:none;stroke:var(--soft);stroke-opacity:.55;stroke-width:1.2}
svg.net rect{fill:var(--paper);stroke:var(--soft);stroke-width:1}
svg.net rect.left{stroke-dasharray:3 3;fill:var(--panel)}
svg.net rect.share{stroke:none;fill:var(--heat)}svg.net rect.gain{stroke:none;fill:var(--cool)}
svg.net line{stroke:var(--line)}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(21rem,100%),1fr));gap:.7rem}
.card{border:1px solid var(--line);border-radius:8px;padding:.6rem .8rem;overflow-wrap:anywhere}
.card:target{outline:2px solid var(--bar)}
.card b{font-weight:600}.card .bar i{background:var(--heat)}.card .bar i.gain{background:var(--cool)}
.card table{border-collapse:collapse;width:100%;font-size:.85rem;font-variant-numeric:tabular-nums}
.card th,.card td{padding:.1rem .2rem;text-align:right;font-weight:400}
.card th{color:var(--soft)}.card th:first-child,.card td:first-child{text-align:left}
@media print{.card{break-inside:avoid}}
)";

constexpr double kWidth = 360, kHeight = 40, kGap = 10, kBetween = 26, kHeading = 22;
constexpr std::size_t kMostAbreast = 3;

struct Node {
  std::size_t dot;
  double x = 0, y = 0, width = 0;
};

/// Draws the network in rows. A row has the dots whose operands depend on the same number of other
/// dots; those are above.
class Drawing {
public:
  Drawing(const DotErrors& errors, const std::vector<std::string>& names)
      : errors(errors), names(names) {
    for (const DotError& dot : errors.dots)
      largest = std::max(largest, std::abs(dot.share.value_or(0)));
    place();
  }

  std::string svg() const {
    std::string text = fmt::format("<svg class=\"net\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">"
                                   "<title>the network's dots in their order</title>\n",
                                   kWidth, height);
    text += headings;
    for (const auto& [number, to] : nodes)
      for (const std::size_t source : errors.graph.sources[number])
        text += edge(nodes.at(source), to);
    for (const auto& [number, node] : nodes)
      text += box(node);
    return text + "</svg>\n";
  }

private:
  /// The first part of a name with several parts: the heading that dots share.
  std::string groupOf(std::size_t dot) const {
    const std::string& name = names[dot];
    const std::size_t slash = name.find('/');
    return slash == std::string::npos ? "" : name.substr(0, slash);
  }

  void place() {
    std::vector<std::size_t> level(errors.dots.size(), 0);
    std::vector<std::vector<std::size_t>> levels;
    for (const std::size_t number : errors.graph.order) {
      for (const std::size_t source : errors.graph.sources[number])
        level[number] = std::max(level[number], level[source] + 1);
      if (level[number] >= levels.size())
        levels.resize(level[number] + 1);
      levels[level[number]].push_back(number);
    }
    std::string group;
    for (const auto& abreast : levels) {
      if (const std::string next = groupOf(abreast.front()); next != group) {
        group = next;
        addHeading(group);
      }
      for (std::size_t begin = 0; begin < abreast.size(); begin += kMostAbreast)
        addRow({abreast.begin() + static_cast<std::ptrdiff_t>(begin),
                abreast.begin() +
                    static_cast<std::ptrdiff_t>(std::min(begin + kMostAbreast, abreast.size()))},
               group);
    }
  }

  void addHeading(const std::string& group) {
    headings += fmt::format("<line x1=\"0\" x2=\"{:.0f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
                            "<text class=\"group\" x=\"0\" y=\"{:.1f}\">{}</text>\n",
                            kWidth, height + 4, height + 4, height + 18, inHtml(group));
    height += kHeading;
  }

  void addRow(const std::vector<std::size_t>& row, const std::string& group) {
    const auto count = static_cast<double>(row.size());
    const double width = row.size() == 1 ? 150 : (kWidth - 2 - kGap * (count - 1)) / count;
    double x = (kWidth - count * width - kGap * (count - 1)) / 2;
    for (const std::size_t dot : row) {
      nodes[dot] = {dot, x, height, width};
      labels[dot] = labelOf(dot, group, width);
      x += width + kGap;
    }
    height += kHeight + kBetween;
  }

  /// The name without its group, cut at the front to fit.
  std::string labelOf(std::size_t dot, const std::string& group, double width) const {
    constexpr double kWidthOfLetter = 6.3;
    std::string name = names[dot];
    if (!group.empty() && name.starts_with(group + "/"))
      name = name.substr(group.size() + 1);
    const auto most = static_cast<std::size_t>((width - 8) / kWidthOfLetter);
    return name.size() <= most
               ? inHtml(name)
               : "…" + inHtml(std::string_view(name).substr(name.size() - most + 1));
  }

  static std::string edge(const Node& from, const Node& to) {
    const double x1 = from.x + from.width / 2, y1 = from.y + kHeight;
    const double x2 = to.x + to.width / 2, y2 = to.y, turn = std::max(y1, y2 - kBetween);
    return fmt::format("<path d=\"M{0:.1f} {1:.1f}V{2:.1f}C{0:.1f} {3:.1f} {4:.1f} {2:.1f} {4:.1f} "
                       "{3:.1f}\"/>\n",
                       x1, y1, turn, y2, x2);
  }

  std::string box(const Node& node) const {
    const DotError& dot = errors.dots[node.dot];
    std::string text = fmt::format("<a href=\"#dot{}\"><title>{}</title><rect{} x=\"{:.1f}\" "
                                   "y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" rx=\"6\"/>",
                                   node.dot, inHtml(dot.record.name),
                                   dot.record.isQuantized ? "" : " class=\"left\"", node.x, node.y,
                                   node.width, kHeight);
    std::string figure = dot.record.isQuantized ? "did not run" : "not quantized";
    if (dot.runs > 0) {
      const auto sqnr = dot.result.sqnr();
      figure = sqnr ? fmt::format("{:.1f} dB", *sqnr) : "no finite result";
      if (dot.share) {
        figure = fmt::format("{:.1f} % · {}", 100 * *dot.share, figure);
        const double length = (node.width - 12) * std::abs(*dot.share) / largest;
        text += fmt::format("<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                            "height=\"4\" rx=\"2\"/>",
                            *dot.share < 0 ? "gain" : "share", node.x + 6, node.y + kHeight - 7,
                            length);
      }
    }
    const double middle = node.x + node.width / 2;
    return text + fmt::format("<text text-anchor=\"middle\" x=\"{0:.1f}\" y=\"{1:.1f}\">{2}</text>"
                              "<text class=\"figure\" text-anchor=\"middle\" x=\"{0:.1f}\" "
                              "y=\"{3:.1f}\">{4}</text></a>\n",
                              middle, node.y + 14, labels.at(node.dot), node.y + 28, figure);
  }

  const DotErrors& errors;
  const std::vector<std::string>& names;
  double largest = 0; ///< largest magnitude of a share
  double height = 2;
  std::string headings;
  std::map<std::size_t, Node> nodes;
  std::map<std::size_t, std::string> labels;
};

std::string sqnrText(const analysis::LossSums& sums) {
  const auto sqnr = sums.sqnr();
  return !sqnr ? "-" : std::isinf(*sqnr) ? "exact" : fmt::format("{:.1f}", *sqnr);
}

std::string percentOf(std::int64_t count, std::int64_t all) {
  return count == 0 || all == 0
             ? "0"
             : fmt::format("{:.2g} %", 100 * static_cast<double>(count) / static_cast<double>(all));
}

/// The figures of both operands and the result, one column each.
std::string figures(const DotError& dot) {
  const auto row = [&](std::string_view what, const auto& ofSide, const std::string& ofResult) {
    return fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n", what, ofSide(0),
                       ofSide(1), ofResult);
  };
  const auto ifNarrow = [&](std::size_t side, const std::string& text) {
    return formatOf(dot.record, side) != nullptr ? text : "";
  };
  const auto loss = [&](std::size_t side) -> const QuantizationLoss& { return dot.sides[side]; };
  std::string text = fmt::format("<table><thead><tr><th></th><th>{}</th><th>{}</th><th>result</th>"
                                 "</tr></thead><tbody>\n",
                                 kindOf(dot.record, 0), kindOf(dot.record, 1));
  text += row(
      "format",
      [&](std::size_t side) {
        const format::ScaledFormat* format = formatOf(dot.record, side);
        return format != nullptr ? format->name : std::string_view("as it is");
      },
      "");
  text += row(
      "SQNR, dB", [&](std::size_t side) { return ifNarrow(side, sqnrText(loss(side).sums)); },
      sqnrText(dot.result));
  text += row("to f32, dB", [](std::size_t) { return ""; }, sqnrText(dot.accumulated));
  text += row(
      "amax", [&](std::size_t side) { return fmt::format("{:.4g}", loss(side).sums.amax); },
      fmt::format("{:.4g}", dot.result.amax));
  text += row(
      "saturated",
      [&](std::size_t side) {
        return ifNarrow(side, percentOf(loss(side).saturated, loss(side).sums.values));
      },
      "");
  text += row(
      "underflowed",
      [&](std::size_t side) {
        return ifNarrow(side, percentOf(loss(side).sums.underflowed, loss(side).sums.values));
      },
      "");
  return text + "</tbody></table>\n";
}

std::string card(const DotErrors& errors, std::size_t number, double largest) {
  const DotError& dot = errors.dots[number];
  std::string text = fmt::format("<div class=\"card\" id=\"dot{}\"><b>{}</b>", number,
                                 nameInHtml(dot.record.name));
  if (!dot.record.isQuantized)
    return text + fmt::format("<div class=\"soft\">not quantized: {}</div></div>\n",
                              inHtml(dot.record.reason));
  text += fmt::format("<div class=\"soft\">{}{}</div>", inHtml(dot.record.sizes()),
                      dot.runs == 0   ? ", did not run"
                      : dot.runs == 1 ? ""
                                      : fmt::format(", ran {} times", dot.runs));
  if (dot.share)
    text += fmt::format("<div>{:.1f} % of the error</div><div class=\"bar\"><i{} "
                        "style=\"width:{:.1f}%\"></i></div>\n",
                        100 * *dot.share, *dot.share < 0 ? " class=\"gain\"" : "",
                        largest > 0 ? 100 * std::abs(*dot.share) / largest : 0.0);
  if (dot.runs > 0)
    text += figures(dot);
  return text + "</div>\n";
}

std::string tiles(const DotErrors& errors, const std::vector<std::string>& names) {
  std::string page = "<div class=\"tiles\">\n";
  if (errors.counted > 0)
    page += tile("relative error of the outputs",
                 fmt::format("{:.3g} %", 100 * std::sqrt(errors.error)));
  page += tile("dots quantized", fmt::format("{} of {}", errors.quantized(), errors.dots.size()));
  const auto worst = std::ranges::max_element(
      errors.dots, {}, [](const DotError& dot) { return dot.share.value_or(-1e300); });
  if (worst->share) {
    page += tile("the largest share: " +
                     nameInHtml(names[static_cast<std::size_t>(worst - errors.dots.begin())]),
                 fmt::format("{:.1f} %", 100 * *worst->share));
    page += tile("sum of all shares", fmt::format("{:.0f} %", 100 * errors.sumOfShares()));
  }
  return page + "</div>\n";
}

std::string cards(const DotErrors& errors) {
  std::vector<std::size_t> order(errors.dots.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, {}, [&](std::size_t i) {
    const DotError& dot = errors.dots[i];
    return std::tuple(!dot.record.isQuantized, -dot.share.value_or(-1e300), i);
  });
  double largest = 0;
  for (const DotError& dot : errors.dots)
    largest = std::max(largest, std::abs(dot.share.value_or(0)));
  std::string page = "<h2>Each dot, the largest share first</h2>\n<div class=\"cards\">\n";
  for (const std::size_t number : order)
    page += card(errors, number, largest);
  return page + "</div>\n";
}

} // namespace

std::string dotsPage(const DotErrors& errors, const DotsPageTitle& title) {
  const std::vector<std::string> names = shortNames(errors);
  std::string page = base::pageHead(kGenerator, title.program, kStyle);
  page +=
      fmt::format("<p class=\"soft\">{}, against the program as it is, on the same inputs.</p>\n",
                  inHtml(title.quantization));
  page += tiles(errors, names);
  if (errors.nonFinite > 0)
    page += fmt::format("<p><b>{} elements of the outputs are NaN or Inf in one of the two runs "
                        "alone: there are no shares.</b></p>\n",
                        errors.nonFinite);
  else if (errors.counted == 0 && errors.rowsOfOne > 0)
    page += fmt::format("<p><b>{}</b></p>\n", noSharesOfOne());
  page += "<p class=\"soft\">Share: what goes of the squared relative error of the outputs when "
          "this dot alone is left as it is. Shares need not sum to 100 %; a negative one says that "
          "the error grows. dB: signal to quantization noise, of an operand by its own "
          "quantization, of a result against the same dot of the same operands unquantized; to "
          "f32: of a result against that of the program as it is, with the errors of all dots "
          "before it. Saturated and underflowed: shares of the elements.</p>\n";
  if (!errors.graph.order.empty())
    page += "<h2>The network</h2>\n" + Drawing(errors, names).svg();
  return page + cards(errors) + base::pageEnd("octavo run --compare f32 --per-op");
}

} // namespace octavo::tools
