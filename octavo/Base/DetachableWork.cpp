#include "octavo/Base/DetachableWork.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace octavo::base {

namespace {

std::atomic<int> running = 0;

void endNowIfRunning(int status, void*) {
  if (running == 0)
    return;
  std::fflush(nullptr);
  _exit(status);
}

} // namespace

void DetachedWork::begin() {
  // Exit handlers run in reverse order: this one runs before the destructors of any library.
  on_exit(endNowIfRunning, nullptr);
  ++running;
}

void DetachedWork::end() { --running; }

} // namespace octavo::base
