#include "octavo/Program/Values/Checks.h"

namespace octavo::program {

std::string CheckFailure::message() const {
  std::string at;
  for (std::int64_t i : index)
    at += (at.empty() ? "" : ", ") + std::to_string(i);
  std::string text = location + ": " + operation + " in @" + function + " at [" + at +
                     "]: expected " + expected + ", found " + found;
  if (count > 1)
    text += " (" + std::to_string(count) + " elements differ)";
  return text;
}

} // namespace octavo::program
