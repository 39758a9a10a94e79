#include "octavo/Checkpoint/Reports/Report.h"

#include "octavo/Base/ByteText.h"
#include "octavo/Base/HtmlPage.h"
#include "octavo/Checkpoint/Reports/LayerRows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <tuple>

namespace octavo::checkpoint {

namespace {

using base::inHtml;
using base::tile;

/// Most bytes of table rows. A page of 2 MB loads and prints within seconds, on a phone too; a page
/// of 25 MB does not.
constexpr std::size_t kMostRowBytes = 1'500'000;
/// Most findings of a rule that are written out.
constexpr std::ptrdiff_t kMostOfARule = 10;

constexpr std::string_view kGenerator = "octavo checkpoint report";

constexpr std::string_view kStyle = R"(
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .6rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{color:var(--soft);font-weight:600;text-align:right}
th:first-child,td:first-child{text-align:left;white-space:normal;overflow-wrap:break-word;
min-width:11rem}
th.left,td.left{text-align:left}
.finding{border-left:4px solid var(--line);background:var(--panel);border-radius:0 8px 8px 0;
padding:.5rem .8rem;margin:.5rem 0;overflow-wrap:anywhere}
.finding.error{border-color:var(--error)}.finding.warning{border-color:var(--warning)}
.finding.note{border-color:var(--note)}
.finding code{font-size:.85em}
.tag{font-weight:600}.error .tag{color:var(--error)}.warning .tag{color:var(--warning)}
.note .tag{color:var(--note)}
svg{display:block}svg rect{fill:var(--bar)}
@media (max-width:44rem){.extra{display:none}th,td{padding:.3rem .35rem}
th:first-child,td:first-child{min-width:8rem}.bar{min-width:3rem}svg{max-width:5rem}}
@media print{.scroll{overflow:visible}.finding,tr{break-inside:avoid}
thead{display:table-header-group}}
)";

/// Draws a bar for each power of two from the lowest to the highest that occurs.
std::string histogramPicture(const ScaleHistogram& histogram) {
  int lowest = ScaleHistogram::kHighest, highest = ScaleHistogram::kLowest;
  std::uint64_t most = 0;
  for (int e = ScaleHistogram::kLowest; e <= ScaleHistogram::kHighest; ++e)
    if (histogram[e]) {
      lowest = std::min(lowest, e);
      highest = std::max(highest, e);
      most = std::max(most, histogram[e]);
    }
  if (most == 0)
    return "";
  constexpr double kWidth = 120, kHeight = 26;
  const double step = std::min(12.0, kWidth / (highest - lowest + 1));
  std::string picture = fmt::format("<svg width=\"{:.0f}\" height=\"{:.0f}\" "
                                    "role=\"img\"><title>scales from 2^{} to 2^{}</title>",
                                    kWidth, kHeight, lowest, highest);
  for (int e = lowest; e <= highest; ++e)
    if (histogram[e]) {
      // A count of one is visible as one pixel beside millions.
      const double height =
          std::max(1.0, kHeight * static_cast<double>(histogram[e]) / static_cast<double>(most));
      picture += fmt::format(
          "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>2^{}: {}"
          "</title></rect>",
          (e - lowest) * step, kHeight - height, std::max(1.0, step - 1), height, e, histogram[e]);
    }
  return picture + "</svg>";
}

std::string head(const Report& report) {
  const Inspection& all = report.inspection;
  std::string page =
      base::pageHead(kGenerator, report.name, kStyle) +
      fmt::format("<p class=\"soft\">Layout {}: {}{}{}</p>\n", inHtml(all.layout),
                  inHtml(all.reason),
                  all.quantizer.empty() ? "" : "; written by " + inHtml(all.quantizer),
                  report.original.empty() ? "" : "; compared with " + inHtml(report.original));
  const auto count = [&](Severity severity) {
    return std::count_if(report.findings.begin(), report.findings.end(),
                         [&](const Finding& finding) { return finding.severity == severity; });
  };
  page += "<div class=\"tiles\">\n";
  page += tile("on disk", base::bytesText(all.bytes));
  page += tile("bits a weight", fmt::format("{:.3g}", all.bitsPerWeight()));
  page += tile("quantized layers", fmt::to_string(report.layers.size()));
  page += tile("tensors", fmt::to_string(all.tensors));
  page += tile("errors found", fmt::to_string(count(Severity::Error)));
  page += tile("warnings", fmt::to_string(count(Severity::Warning)));
  return page + "</div>\n";
}

std::string bytesTable(const Report& report) {
  std::string page =
      "<h2>Where the bytes are</h2>\n<div class=\"scroll\"><table><thead><tr><th>format</th>"
      "<th class=\"extra\">tensors</th><th class=\"extra\">weights</th><th>bytes</th>"
      "<th>bits a weight</th><th class=\"left\">"
      "share</th></tr></thead><tbody>\n";
  const auto row = [&](const std::string& name, std::uint64_t tensors, std::uint64_t weights,
                       std::uint64_t bytes) {
    const double total = static_cast<double>(std::max<std::uint64_t>(report.inspection.bytes, 1));
    page += fmt::format(
        "<tr><td>{}</td><td class=\"extra\">{}</td><td class=\"extra\">{}</td><td>{}</td>"
        "<td>{:.3g}</td><td class=\"left\"><div "
        "class=\"bar\"><i style=\"width:{:.1f}%\"></i></div></td></tr>\n",
        name, tensors, weights, base::bytesText(bytes),
        weights ? 8.0 * static_cast<double>(bytes) / static_cast<double>(weights) : 0.0,
        100 * static_cast<double>(bytes) / total);
  };
  for (const FormatUse& use : report.inspection.formats)
    row(inHtml(use.format), use.layers, use.weights, use.codeBytes + use.scaleBytes);
  for (const PlainUse& use : report.inspection.plain)
    row("plain " + inHtml(use.dtype), use.tensors, use.elements, use.bytes);
  return page + "</tbody></table></div>\n";
}

std::string placeOf(const Finding& finding) {
  return fmt::format("<code>{}{}{}</code>", inHtml(finding.file),
                     finding.file.empty() || finding.tensor.empty() ? "" : ", ",
                     inHtml(finding.tensor));
}

/// Lists findings, grouped by rule.
std::string findingsList(const Report& report) {
  std::string page = "<h2>Findings</h2>\n";
  if (report.findings.empty())
    return page + "<p>None: every rule of <code>octavo checkpoint lint</code> holds.</p>\n";
  for (auto finding = report.findings.begin(); finding != report.findings.end();) {
    const auto end = std::find_if(finding, report.findings.end(), [&](const Finding& other) {
      return other.severity != finding->severity || other.rule != finding->rule;
    });
    const auto shown = finding + std::min(end - finding, kMostOfARule);
    for (; finding != shown; ++finding)
      page += fmt::format(
          "<div class=\"finding {0}\"><p><span class=\"tag\">{0}: {1}</span> {2}</p><p>{3}</p>"
          "<p class=\"soft\">{4}. {5}.</p></div>\n",
          severityName(finding->severity), finding->rule.text(), placeOf(*finding),
          inHtml(finding->what), inHtml(finding->why), inHtml(finding->fix));
    if (finding == end)
      continue;
    page += fmt::format(
        "<div class=\"finding {0}\"><p><span class=\"tag\">{0}: {1}</span> {2} more, the last "
        "{3}</p><p class=\"soft\"><code>octavo checkpoint lint --all</code> lists them, "
        "<code>octavo checkpoint report --json</code> too.</p></div>\n",
        severityName(finding->severity), finding->rule.text(), end - finding,
        placeOf(*std::prev(end)));
    finding = end;
  }
  return page;
}

/// A line of text below a figure.
std::string below(const std::string& text) {
  return text.empty() ? "" : fmt::format("<div class=\"soft\">{}</div>", text);
}

/// `worst`: the error that fills its bar.
std::string rowText(const LayerRow& row, const Report& report, double worst) {
  const ReportLayer& layer = row.figures;
  std::string page =
      fmt::format("<tr><td>{}{}</td><td class=\"left\">{}</td>"
                  "<td class=\"extra\">{}</td><td class=\"extra\">{}</td>"
                  "<td class=\"extra\">{:.3g}</td>",
                  base::nameInHtml(layer.name), below(row.remark), inHtml(layer.format),
                  fmt::join(layer.shape, " x "), base::bytesText(layer.bytes), layer.bitsPerWeight);
  if (isMeasured(layer))
    page += fmt::format("<td class=\"left\">{:.3g}%<div class=\"bar\"><i style=\"width:{:.1f}%\">"
                        "</i></div>{}</td><td>{:.3g}{}</td>",
                        100 * layer.difference->rms,
                        worst > 0 && std::isfinite(layer.difference->rms)
                            ? 100 * layer.difference->rms / worst
                            : 0.0,
                        below(row.ofError), layer.difference->maxAbsolute, below(row.ofLargest));
  else if (!report.original.empty())
    page += fmt::format("<td class=\"left soft\">{}</td><td></td>",
                        layer.difference
                            ? fmt::format("{} {}", samenessName(layer.difference->sameness),
                                          inHtml(layer.difference->why))
                            : "not in the original");
  if (!report.original.empty())
    page +=
        fmt::format("<td class=\"left extra\">{}{}</td>", fmt::join(layer.reproduction.rules, ", "),
                    below(fmt::format("{}", fmt::join(layer.reproduction.presets, ", "))));
  const bool hasScales = layer.scales.smallest <= layer.scales.largest;
  return page +
         fmt::format(
             "<td>{:.2g}%{}</td><td class=\"left\">{}<span class=\"soft\">{}</span></td>"
             "</tr>\n",
             100 * shareAtMax(layer), below(row.ofAtMax), histogramPicture(layer.histogram),
             !hasScales ? ""
             : layer.scales.smallest == layer.scales.largest
                 ? fmt::format("{:.3g}", layer.scales.smallest)
                 : fmt::format("{:.3g} to {:.3g}", layer.scales.smallest, layer.scales.largest));
}

/// Empties the least bad rows until the others fit into kMostRowBytes. Returns the number of rows
/// left.
std::size_t keepWorst(std::vector<std::string>& texts, const std::vector<LayerRow>& rows) {
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, std::ranges::greater(), [&](std::size_t i) {
    return std::tuple(rows[i].isSuspect, badness(rows[i].figures), rows.size() - i);
  });
  std::size_t kept = 0;
  for (std::size_t bytes = 0; kept < order.size(); ++kept)
    if (bytes += texts[order[kept]].size(); bytes > kMostRowBytes)
      break;
  for (std::size_t i = kept; i < order.size(); ++i)
    texts[order[i]].clear();
  return kept;
}

std::string layersTable(const Report& report) {
  if (report.layers.empty())
    return "<h2>Layers</h2>\n<p>No layer is quantized.</p>\n";
  double worst = 0;
  for (const ReportLayer& layer : report.layers)
    if (isMeasured(layer) && std::isfinite(layer.difference->rms))
      worst = std::max(worst, layer.difference->rms);
  const std::vector<LayerRow> rows = layerRows(report);
  std::vector<std::string> texts;
  for (const LayerRow& row : rows)
    texts.push_back(rowText(row, report, worst));
  const std::size_t kept = keepWorst(texts, rows);

  std::string page = "<h2>Layers, the worst first</h2>\n";
  if (!report.original.empty())
    page += "<p class=\"soft\">Error: norm of the difference over norm of the original. At max: "
            "codes of the format's largest magnitude. Rule and presets: those that give this "
            "layer's scales, and its codes too, tried on the first rows of the original. Scales: "
            "how many of each power of two.</p>\n";
  if (std::ranges::any_of(rows, [](const LayerRow& row) { return !row.ofAtMax.empty(); }))
    page += fmt::format("<p class=\"soft\">{} layers in {} rows: experts of a layer that are the "
                        "same projection share a row, with bytes and scales of all and the other "
                        "figures of the worst. An expert with findings, or the worst of the model, "
                        "has its own row below. <code>octavo checkpoint report --json</code> "
                        "has every layer.</p>\n",
                        report.layers.size(), rows.size());
  if (kept < rows.size())
    page += fmt::format("<p><b>{} of {} rows are left out</b>: the page has those with findings, "
                        "then those with the largest {}. <code>octavo checkpoint report "
                        "--json</code> has every layer.</p>\n",
                        rows.size() - kept, rows.size(),
                        report.original.empty() ? "share at max" : "error");
  page += fmt::format(
      "<div class=\"scroll\"><table><thead><tr><th>layer</th>"
      "<th class=\"left\">format</th><th class=\"extra\">shape</th><th class=\"extra\">bytes</th>"
      "<th class=\"extra\">bits</th>{}<th>at max</th><th class=\"left\">scales</th></tr></thead>"
      "<tbody>\n",
      report.original.empty() ? ""
                              : "<th class=\"left\">error</th><th>largest</th>"
                                "<th class=\"left extra\">rule and presets</th>");
  for (const std::string& text : texts)
    page += text;
  return page + "</tbody></table></div>\n";
}

} // namespace

std::string reportPage(const Report& report) {
  return head(report) + bytesTable(report) + findingsList(report) + layersTable(report) +
         base::pageEnd(kGenerator);
}

bool isReportPage(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string expected = base::pageBeginning(kGenerator);
  std::string beginning(expected.size(), '\0');
  file.read(beginning.data(), std::ssize(beginning));
  return beginning == expected;
}

} // namespace octavo::checkpoint
