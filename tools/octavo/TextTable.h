// Rows of text in columns.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace octavo::tools {

/// The first row is the head. All rows have as many columns.
using TextTable = std::vector<std::vector<std::string>>;

/// A table for stdout: columns two blanks apart, no blanks at the ends of lines. On a terminal it
/// is at most 100 columns wide. Elsewhere a row is one line, for grep and the like.
std::string plainText(TextTable table);
/// The same, at most `most` columns wide: cells that are too long go on in the next line.
std::string plainText(TextTable table, std::size_t most);
/// A table of GitHub's Markdown.
std::string markdownText(const TextTable& table);

} // namespace octavo::tools
