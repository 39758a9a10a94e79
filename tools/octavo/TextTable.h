// Rows of text in columns.
#pragma once

#include <string>
#include <vector>

namespace octavo::tools {

/// The first row is the head. All rows have as many columns.
using TextTable = std::vector<std::vector<std::string>>;

/// Columns as wide as their widest text, two blanks apart; no blanks at the ends of lines.
std::string plainText(TextTable table);
/// A table of GitHub's Markdown.
std::string markdownText(const TextTable& table);

} // namespace octavo::tools
