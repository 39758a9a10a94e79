// Prints tables of text.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace octavo::tools {

/// Rows of cells. The first row is the header. All rows have the same number of columns.
using TextTable = std::vector<std::vector<std::string>>;

/// A table for stdout, with two spaces between columns and no spaces at line ends. On a terminal it
/// is at most 100 columns wide. Otherwise each row is one line, for grep and the like.
std::string plainText(TextTable table);
/// The same, at most `most` columns wide: long cells continue in the next line.
std::string plainText(TextTable table, std::size_t most);
/// A table in GitHub's Markdown.
std::string markdownText(const TextTable& table);

} // namespace octavo::tools
