// The disk cache of compiled code: object files of kernels, and whole programs (ProgramCache.h).
// What was compiled once on a machine is not compiled again there. An unusable folder, a damaged
// entry or a full disk only cost the time to compile.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>

namespace octavo::compiler {

/// The digest of a text that is given in parts: 32 hexadecimal digits.
std::string digestOf(std::initializer_list<llvm::StringRef> parts);

/// Entries are code that will run, so they must belong to this user. The cache holds its folder
/// open and finds entries in it, not by path: to exchange the folder, or a folder above it, changes
/// nothing.
class CompilationCache {
public:
  /// Whether the user named the folder, or it is the default.
  enum class Place : std::uint8_t { Given, Default };
  /// Uses `folder`, and creates it and missing parents for this user alone. An empty path disables
  /// the cache.
  ///
  /// It refuses a folder that belongs to another user, that others may write to, or that is below a
  /// folder that everybody may write to. If others may write to the default folder of this user, it
  /// is closed to them and emptied instead.
  explicit CompilationCache(const std::filesystem::path& folder, Place place = Place::Given);
  /// The cache in $OCTAVO_CACHE_DIR if that is set (empty: disabled), else in octavo/compiled below
  /// $XDG_CACHE_HOME or ~/.cache.
  static CompilationCache ofUser();

  /// Whether the cache can be used.
  bool isUsed() const { return folder != nullptr; }
  /// Why an existing folder is refused, and what the user can do. Empty if it is used, or there is
  /// none.
  const std::string& refusal() const { return whyRefused; }
  /// The bytes of an entry. Null if there is no such entry, or it is damaged.
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;
  /// Writes an entry. Entries take at most 64 MiB; the least recently used ones are removed first.
  /// Other processes see an entry whole or not at all.
  void keep(const std::string& key, llvm::StringRef bytes) const;

private:
  std::shared_ptr<const int> folder; ///< its descriptor; null: disabled
  std::string whyRefused;
};

} // namespace octavo::compiler
