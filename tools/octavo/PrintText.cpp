#include "tools/octavo/Commands.h"

#include "octavo/Base/PrintableText.h"

#include <fmt/format.h>

namespace octavo::tools {

void printText(std::string_view text) {
  fmt::print("{}", base::printable(text, base::Newlines::Kept));
}

} // namespace octavo::tools
