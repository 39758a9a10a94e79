#include "python/bindings/Interruptible.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace octavo::python {

void endAbandonedWorkAtExit() {
  // What is registered last is called first, before the destructors of any library.
  on_exit(
      [](int status, void*) {
        if (abandonedWork == 0)
          return;
        std::fflush(nullptr);
        _exit(status);
      },
      nullptr);
}

} // namespace octavo::python
