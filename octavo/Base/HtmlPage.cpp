#include "octavo/Base/HtmlPage.h"

#include "octavo/Base/PrintableText.h"

#include <fmt/format.h>

namespace octavo::base {

static constexpr std::string_view kStyleOfPages = R"(
:root{--ink:#1b2430;--soft:#5b6675;--line:#dde2e9;--paper:#fff;--panel:#f5f7fa;--bar:#3b6fb5;
--error:#b3261e;--warning:#9a6200;--note:#3b6fb5}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ee;--soft:#9aa5b4;--line:#323a46;
--paper:#14181e;--panel:#1c222a;--bar:#7aa7e0;--error:#ff8a80;--warning:#f0b95a;--note:#7aa7e0}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:76rem;padding:1.2rem;background:var(--paper);color:var(--ink);
font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
h1{font-size:1.5rem;margin:0 0 .2rem;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:2rem 0 .6rem}
p{margin:.3rem 0}.soft{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.6rem;margin:1rem 0}
.tile{background:var(--panel);border-radius:8px;padding:.7rem .9rem}
.tile b{display:block;font-size:1.25rem;line-height:1.3}
.bar{background:var(--panel);border-radius:3px;height:.6rem;min-width:6rem}
.bar i{display:block;height:100%;background:var(--bar);border-radius:3px}
@media print{body{max-width:none;font-size:10px;padding:0}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}
.tiles{grid-template-columns:repeat(6,1fr)}h2{break-after:avoid}
:root{--ink:#000;--soft:#444;--line:#bbb;--paper:#fff;--panel:#f3f3f3;--bar:#3b6fb5}}
)";

std::string inHtml(std::string_view text) {
  const std::string quoted = inQuotes(text);
  std::string result;
  for (const char c : std::string_view(quoted).substr(1, quoted.size() - 2))
    switch (c) {
    case '&':
      result += "&amp;";
      break;
    case '<':
      result += "&lt;";
      break;
    case '>':
      result += "&gt;";
      break;
    case '"':
      result += "&quot;";
      break;
    default:
      result += c;
    }
  return result;
}

std::string nameInHtml(std::string_view name) {
  std::string result;
  for (const char c : inHtml(name)) {
    result += c;
    if (c == '.' || c == '/')
      result += "<wbr>";
  }
  return result;
}

std::string pageBeginning(std::string_view generator) {
  return fmt::format("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                     "<meta name=\"generator\" content=\"{}\">\n",
                     generator);
}

std::string pageHead(std::string_view generator, std::string_view title, std::string_view style) {
  return fmt::format("{0}<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                     "<title>{1}</title><style>{2}{3}</style></head><body>\n<h1>{1}</h1>\n",
                     pageBeginning(generator), inHtml(title), kStyleOfPages, style);
}

std::string pageEnd(std::string_view generator) {
  return fmt::format("<p class=\"soft\">Made by <code>{}</code>.</p>\n</body></html>\n", generator);
}

std::string tile(std::string_view what, std::string_view value) {
  return fmt::format("<div class=\"tile\"><b>{}</b>{}</div>\n", value, what);
}

} // namespace octavo::base
