// What compiling made, on disk: object files of kernels and whole programs (ProgramCache.h), so
// that what was compiled once on a machine is not compiled again there. The cache is a convenience:
// a folder that cannot be read or written, an entry that is damaged and a disk that is full cost
// the time to compile and nothing else.
#pragma once

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>

namespace octavo::pipelines {

/// 32 hexadecimal digits that stand for a text, given in parts.
std::string digestOf(std::initializer_list<llvm::StringRef> parts);

class CompilationCache {
public:
  /// In `folder`; empty: nothing is kept. Entries are code that will run: a folder that others than
  /// its owner may write to, or that is somebody else's, is not used.
  explicit CompilationCache(const std::filesystem::path& folder);
  /// In $OCTAVO_CACHE_DIR if it is set (empty: nothing is kept), else octavo/compiled in
  /// $XDG_CACHE_HOME or ~/.cache.
  static CompilationCache ofUser();

  /// Whether anything can be kept.
  bool isUsed() const { return !folder.empty(); }
  /// What was kept under a key; null if there is nothing, or it is not what was written.
  std::unique_ptr<llvm::MemoryBuffer> find(const std::string& key) const;
  /// Keeps it; at most 64 MiB are kept in all, what was longest not asked for goes first. Other
  /// processes see an entry whole or not at all.
  void keep(const std::string& key, llvm::StringRef bytes) const;

private:
  std::filesystem::path folder; ///< empty: there is none
};

} // namespace octavo::pipelines
