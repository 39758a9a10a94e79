// Pages for people: HTML that needs no other file and no network, on a phone, in the dark and on
// paper.
#pragma once

#include <string>
#include <string_view>

namespace octavo::base {

/// Text of a file or its names, fit for HTML, cut after 200 bytes: no byte of it is markup or an
/// incomplete character.
std::string inHtml(std::string_view text);

/// The same where a long name may go on in a new line: after '.' and '/'.
std::string nameInHtml(std::string_view name);

/// What a page begins with that `generator` makes, to the byte, so that it can be known again.
std::string pageBeginning(std::string_view generator);

/// That and everything else up to the first element below the heading, which is the title.
/// `style` is CSS after that of all pages.
std::string pageHead(std::string_view generator, std::string_view title, std::string_view style);

/// The end of the page, with what made it.
std::string pageEnd(std::string_view generator);

/// A figure and what it is, within <div class="tiles">.
std::string tile(std::string_view what, std::string_view value);

} // namespace octavo::base
