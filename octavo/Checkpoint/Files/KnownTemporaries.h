// Temporary files and folders of this process that a signal which ends it removes.
#pragma once

#include <string>
#include <utility>

namespace octavo::checkpoint {

/// The name of a temporary file, or of a folder that has files alone, for as long as this lives. It
/// is known before the file is made, so that no moment is missed.
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
  int slot = -1; ///< -1: none, or there are too many
};

/// From now on SIGINT, SIGTERM and SIGHUP, where they would end the process, first remove what is
/// known. For commands; a library leaves signals to its program.
void removeTemporariesOnSignals();

/// What the handler does: removes what is known, and ends the process by the signal.
void endBySignal(int signal);

} // namespace octavo::checkpoint
