// A folder for what a linker reads and writes.
#pragma once

#include "octavo/Checkpoint/Files/KnownTemporaries.h"

#include <string>
#include <tl/expected.hpp>

namespace octavo::compiler {

/// A new folder where the system has its temporary files, which is removed with all in it when this
/// ends, or by a signal that ends the process. What a process that was killed has left there, the
/// next one of the same user removes.
class LinkFolder {
public:
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
