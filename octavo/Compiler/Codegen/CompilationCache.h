// What compiling made, on disk: object files of kernels and whole programs (ProgramCache.h), so
// that what was compiled once on a machine is not compiled again there. The cache is a convenience:
// a folder that cannot be read or written, an entry that is damaged and a disk that is full cost
// the time to compile and nothing else.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>

namespace octavo::compiler {

/// 32 hexadecimal digits that stand for a text, given in parts.
std::string digestOf(std::initializer_list<llvm::StringRef> parts);

/// Entries are code that will run, so they must be this user's own. The folder is held open and
/// entries are found in it, not by its path: whoever exchanges it, or a folder above it, changes
/// nothing.
class CompilationCache {
public:
  /// Who chose the place.
  enum class Place : std::uint8_t { Given, Default };
  /// In `folder`, which is made, with those above it that are missing, for its owner alone; empty:
  /// nothing is kept. A folder that others than its owner may write to, or that is somebody else's,
  /// is not used, nor one below a folder that everybody may write to. At the default place a folder
  /// of the user's own that others may write to is closed to them and emptied.
  explicit CompilationCache(const std::filesystem::path& folder, Place place = Place::Given);
  /// In $OCTAVO_CACHE_DIR if it is set (empty: nothing is kept), else octavo/compiled in
  /// $XDG_CACHE_HOME or ~/.cache.
  static CompilationCache ofUser();

  /// Whether anything can be kept.
  bool isUsed() const { return folder != nullptr; }
  /// Why a folder that is there is not trusted, and what to do; empty where it is, and where there
  /// is none.
  const std::string& refusal() const { return whyRefused; }
  /// What was kept under a key; null if there is nothing, or it is not what was written.
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;
  /// Keeps it; at most 64 MiB are kept in all, what was longest not asked for goes first. Other
  /// processes see an entry whole or not at all.
  void keep(const std::string& key, llvm::StringRef bytes) const;

private:
  std::shared_ptr<const int> folder; ///< its descriptor; null: there is none
  std::string whyRefused;
};

} // namespace octavo::compiler
