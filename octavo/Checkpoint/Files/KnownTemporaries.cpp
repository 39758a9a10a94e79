#include "octavo/Checkpoint/Files/KnownTemporaries.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace octavo::checkpoint {

namespace {

enum class Use : char { Free, Filling, Known };

/// One registered path. A signal handler may neither lock nor allocate, so the paths are in a
/// static table, whose pages are only mapped if used.
struct Slot {
  std::atomic<Use> use;
  std::array<char, PATH_MAX> path;
};
constexpr std::size_t kMost = 64;
std::array<Slot, kMost> slots;
std::atomic<bool> isEnding;
static_assert(std::atomic<Use>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

/// Removes the files of a folder. `readdir` is not used because it allocates, which a handler must
/// not do.
void removeFiles(int folder) {
  alignas(dirent64) static char buffer[4096];
  for (;;) {
    const long size = ::syscall(SYS_getdents64, folder, buffer, sizeof buffer);
    if (size <= 0)
      return;
    for (long at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      ::unlinkat(folder, entry->d_name, 0);
      at += entry->d_reclen;
    }
  }
}

void remove(const char* path) {
  if (::unlink(path) == 0 || errno == ENOENT)
    return;
  // Several tries: a linker that still runs may create another file there.
  for (int tries = 0; tries < 3 && ::rmdir(path) != 0; ++tries)
    if (const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC); folder >= 0) {
      removeFiles(folder);
      ::close(folder);
    }
}

} // namespace

KnownTemporary::KnownTemporary(const std::string& path) {
  for (std::size_t i = 0; i < kMost && path.size() < PATH_MAX; ++i) {
    Use free = Use::Free;
    if (!slots[i].use.compare_exchange_strong(free, Use::Filling))
      continue;
    std::ranges::copy(path, slots[i].path.begin());
    slots[i].path[path.size()] = '\0';
    slots[i].use = Use::Known;
    slot = static_cast<int>(i);
    break;
  }
  while (isEnding) // no new file is created: the process is about to end
    ::pause();
}

KnownTemporary::~KnownTemporary() {
  if (slot >= 0)
    slots[static_cast<std::size_t>(slot)].use = Use::Free;
}

void endBySignal(int signal) {
  isEnding = true;
  for (Slot& slot : slots)
    if (slot.use == Use::Known)
      remove(slot.path.data());
  std::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  ::pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  std::raise(signal);
}

void removeTemporariesOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before{};
    if (::sigaction(signal, nullptr, &before) != 0 || before.sa_handler != SIG_DFL)
      continue; // ignored (nohup, for example) or handled by the program
    struct sigaction action{};
    action.sa_handler = endBySignal;
    ::sigaction(signal, &action, nullptr);
  }
}

} // namespace octavo::checkpoint
