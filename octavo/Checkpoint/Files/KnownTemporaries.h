// Temporary files and folders that are removed if a signal ends this process.
#pragma once

#include <string>
#include <utility>

namespace octavo::checkpoint {

/// Registers the path of a temporary file, or of a folder that holds only files, during its
/// lifetime. Register before creating the file, so that a signal at any moment finds it.
class KnownTemporary {
public:
  KnownTemporary() = default;
  explicit KnownTemporary(const std::string& path);
  KnownTemporary(KnownTemporary&& other) noexcept : slot(std::exchange(other.slot, -1)) {}
  KnownTemporary& operator=(KnownTemporary&& other) noexcept {
    std::swap(slot, other.slot);
    return *this;
  }
  ~KnownTemporary();

private:
  int slot = -1; ///< index in the table; -1: empty, or the table was full
};

/// From now on SIGINT, SIGTERM and SIGHUP, if their action is the default, first remove the
/// registered files. For commands; a library leaves signals to its program.
void removeTemporariesOnSignals();

/// The signal handler: removes the registered files and folders, then ends the process by `signal`.
void endBySignal(int signal);

} // namespace octavo::checkpoint
