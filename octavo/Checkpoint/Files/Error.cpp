#include "octavo/Checkpoint/Files/Error.h"

#include <fmt/format.h>

namespace octavo::checkpoint {

std::string Error::message() const {
  std::string message = file + ": ";
  if (!tensor.empty())
    message += "tensor " + inQuotes(tensor) + ": ";
  message += problem;
  if (!expected.empty())
    message += ": expected " + expected;
  if (!found.empty())
    message += (expected.empty() ? ": found " : ", found ") + found;
  if (offset)
    message += fmt::format(" (at byte {})", *offset);
  if (!fix.empty())
    message += "; " + fix;
  return base::printable(message);
}

} // namespace octavo::checkpoint
