#include "octavo/Dialect/VHLO/CheckBytecode.h"

#include "octavo/Dialect/VHLO/BytecodeCursor.h"
#include "octavo/Dialect/VHLO/CheckEntries.h"
#include "octavo/Dialect/VHLO/CheckOperations.h"

#include "llvm/ADT/STLExtras.h"

#include <array>
#include <vector>

namespace octavo::vhlo {

namespace {

enum SectionNumber : unsigned {
  kStrings = 0,
  kDialects = 1,
  kEntries = 2,
  kEntrySizes = 3,
  kOperations = 4,
  kPropertyTable = 8,
  kSections = 9,
};

constexpr std::uint64_t kDialectVersions = 1;
constexpr std::uint64_t kCountedOperationNames = 4;

std::vector<llvm::StringRef> checkStrings(Cursor section, Damage& damage) {
  std::vector<llvm::StringRef> strings(damage.count(section, "strings"));
  std::vector<std::uint64_t> sizes;
  for (std::size_t i = 0; i < strings.size(); ++i) {
    sizes.push_back(section.number());
    if (section.isGood() && sizes.back() == 0)
      damage.report(section, "a string without an end");
  }
  if (damage.isFound())
    return strings;
  for (auto [string, size] : llvm::zip(strings, llvm::reverse(sizes)))
    if (llvm::StringRef text = section.take(size).rest(); section.isGood())
      string = text.drop_back();
  if (!section.isGood() || !section.atEnd())
    damage.report(section, "strings of other lengths than are said");
  return strings;
}

/// Checks the section of dialects and returns their names.
std::vector<llvm::StringRef> checkDialects(Cursor section, std::uint64_t version,
                                           llvm::ArrayRef<llvm::StringRef> strings,
                                           Damage& damage) {
  std::vector<llvm::StringRef> names(damage.count(section, "dialects"));
  for (llvm::StringRef& name : names) {
    const std::uint64_t head = section.number();
    const std::uint64_t string = version < kDialectVersions ? head : head >> 1;
    if (string >= strings.size()) {
      damage.report(section, "a dialect without a name");
      break;
    }
    name = strings[string];
    unsigned id = 0;
    if (version >= kDialectVersions && (head & 1) != 0)
      section.section(id);
  }
  if (version >= kCountedOperationNames)
    damage.count(section, "names of operations");
  return names;
}

} // namespace

std::optional<std::string> checkBytecode(llvm::StringRef bytes) {
  Cursor file(bytes, 4);
  const std::uint64_t version = file.number();
  file.skipText();
  std::array<std::optional<Cursor>, kSections> sections;
  while (file.isGood() && !file.atEnd()) {
    unsigned id = 0;
    const Cursor contents = file.section(id);
    if (file.isGood() && id < kSections)
      sections[id] = contents;
  }
  if (!file.isGood() || !sections[kStrings] || !sections[kDialects] || !sections[kEntries] ||
      !sections[kEntrySizes] || !sections[kOperations])
    return std::nullopt;

  Damage damage;
  const std::vector<llvm::StringRef> strings = checkStrings(*sections[kStrings], damage);
  const std::vector<llvm::StringRef> dialects =
      checkDialects(*sections[kDialects], version, strings, damage);
  if (sections[kPropertyTable])
    damage.count(*sections[kPropertyTable], "sets of properties");
  if (!damage.isFound())
    checkEntries(*sections[kEntries], *sections[kEntrySizes], dialects, damage);
  if (!damage.isFound())
    checkOperations(*sections[kOperations], version, damage);
  return damage.found();
}

} // namespace octavo::vhlo
