// A folder for the input and output of a linker.
#pragma once

#include "octavo/Checkpoint/Files/KnownTemporaries.h"

#include <string>
#include <tl/expected.hpp>

namespace octavo::compiler {

/// A new folder among the system's temporary files. It is removed with its contents at the end of
/// the object's lifetime, or by a signal that ends the process. If the process is killed, the next
/// process of the same user that makes such a folder removes it.
class LinkFolder {
public:
  /// Creates the folder. The error names it and says why it could not be created.
  static tl::expected<LinkFolder, std::string> make();

  LinkFolder(LinkFolder&& other) noexcept;
  LinkFolder& operator=(LinkFolder&&) = delete;
  ~LinkFolder();

  const std::string& path() const { return folder; }

private:
  LinkFolder(std::string folder, checkpoint::KnownTemporary known, int descriptor)
      : folder(std::move(folder)), known(std::move(known)), descriptor(descriptor) {}

  std::string folder; ///< empty: it was moved from
  checkpoint::KnownTemporary known;
  int descriptor; ///< locked as long as the folder is used
};

} // namespace octavo::compiler
