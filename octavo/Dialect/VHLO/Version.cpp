#include "octavo/Dialect/VHLO/Version.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

namespace octavo::vhlo {

std::string Version::text() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

std::optional<Version> parseVersion(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, '.');
  Version version;
  int* const numbers[] = {&version.major, &version.minor, &version.patch};
  if (parts.size() != std::size(numbers))
    return std::nullopt;
  for (auto [part, number] : llvm::zip_equal(parts, numbers))
    if (!llvm::all_of(part, llvm::isDigit) || part.getAsInteger(10, *number))
      return std::nullopt;
  return version;
}

int bytecodeVersion(const Version& version) {
  if (version.major == 0) {
    if (version.minor < 10)
      return 0;
    if (version.minor < 12)
      return 1;
    if (version.minor < 14)
      return 3;
    if (version.minor < 15)
      return 4;
  }
  return 6;
}

} // namespace octavo::vhlo
