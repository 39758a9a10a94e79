// Parts of HTML reports: pages that need no other file and no network, with styles for phones, dark
// mode and print.
#pragma once

#include <string>
#include <string_view>

namespace octavo::base {

/// Untrusted text as HTML, cut after 200 bytes. The result contains no markup and no incomplete
/// characters.
std::string inHtml(std::string_view text);

/// The same for a long name, which may break after '.' and '/'.
std::string nameInHtml(std::string_view name);

/// The exact first bytes of a page made by `generator`, by which such a page can be recognized.
std::string pageBeginning(std::string_view generator);

/// The page up to and including its heading, `title`. `style` is CSS appended to the style of all
/// pages.
std::string pageHead(std::string_view generator, std::string_view title, std::string_view style);

/// The end of the page, which names `generator`.
std::string pageEnd(std::string_view generator);

/// A figure with its label, for use within <div class="tiles">.
std::string tile(std::string_view what, std::string_view value);

} // namespace octavo::base
