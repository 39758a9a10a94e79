#include "tools/octavo/TextTable.h"

#include "octavo/Text/PrintableText.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace octavo::tools {

std::string plainText(TextTable table) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (auto& row : table)
    for (std::string& cell : row)
      cell = text::printable(cell);
  for (const auto& row : table)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  std::string text;
  for (const auto& row : table) {
    std::string line;
    for (std::size_t column = 0; column < row.size(); ++column)
      line += fmt::format("{:<{}}  ", row[column], widths[column]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string markdownText(const TextTable& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    text += fmt::format("| {} |\n", fmt::join(table[i], " | "));
    if (i == 0)
      for (std::size_t column = 0; column < table[i].size(); ++column)
        text += column + 1 < table[i].size() ? "|---" : "|---|\n";
  }
  return text;
}

} // namespace octavo::tools
