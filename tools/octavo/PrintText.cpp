#include "tools/octavo/Commands.h"

#include "octavo/Text/PrintableText.h"

#include <fmt/format.h>

namespace octavo::tools {

void printText(std::string_view text) {
  fmt::print("{}", text::printable(text, text::Newlines::Kept));
}

} // namespace octavo::tools
