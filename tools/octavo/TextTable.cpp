#include "tools/octavo/TextTable.h"

#include "octavo/Base/PrintableText.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace octavo::tools {

namespace {

constexpr std::size_t kBetween = 2; ///< spaces between columns
constexpr std::size_t kNarrowest = 5;

/// The widths of columns in a table of at most `most` columns of text: the widest columns shrink
/// first.
std::vector<std::size_t> fitted(std::vector<std::size_t> widths, std::size_t most) {
  std::size_t total = kBetween * (widths.size() - 1);
  for (const std::size_t width : widths)
    total += width;
  while (total > most) {
    const auto widest = std::ranges::max_element(widths);
    if (*widest <= kNarrowest)
      break;
    --*widest;
    --total;
  }
  return widths;
}

/// Removes the first line from `cell` and returns it: as much as fits, up to a space, else up to a
/// separator of names, else up to any character.
std::string takeLine(std::string_view& cell, std::size_t width) {
  std::size_t end = cell.size();
  if (end > width) {
    end = width;
    if (const std::size_t blank = cell.rfind(' ', width); blank != cell.npos && blank > 0)
      end = blank;
    else if (const std::size_t separator = cell.find_last_of("/.,_-:]", width - 1);
             separator != cell.npos && separator >= width / 2)
      end = separator + 1;
    while (end > 1 && (static_cast<unsigned char>(cell[end]) & 0xC0) == 0x80) // inside UTF-8
      --end;
  }
  std::string line(cell.substr(0, end));
  cell.remove_prefix(std::min(cell.find_first_not_of(' ', end), cell.size()));
  return line;
}

} // namespace

std::string plainText(TextTable table) {
  return plainText(std::move(table), ::isatty(STDOUT_FILENO) != 0 ? 100 : std::string::npos);
}

std::string plainText(TextTable table, std::size_t most) {
  std::vector<std::size_t> widths(table.front().size(), 0);
  for (auto& row : table)
    for (std::string& cell : row)
      cell = base::printable(cell);
  for (const auto& row : table)
    for (std::size_t column = 0; column < row.size(); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  widths = fitted(std::move(widths), most);
  std::string text;
  for (const auto& row : table) {
    std::vector<std::string_view> rest(row.begin(), row.end());
    do {
      std::string line;
      for (std::size_t column = 0; column < row.size(); ++column)
        line += fmt::format("{:<{}}", takeLine(rest[column], widths[column]),
                            widths[column] + kBetween);
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    } while (std::ranges::any_of(rest, [](std::string_view cell) { return !cell.empty(); }));
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
