// Long work that Ctrl-C does not wait for, such as a compilation.
#pragma once

#include "python/bindings/Signals.h"

#include "octavo/Base/DetachableWork.h"

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

namespace octavo::python {

/// Throws what a handler of a signal raises, such as KeyboardInterrupt. For loops that run with
/// Python's lock.
inline void raiseSignals() {
  if (PyErr_CheckSignals() != 0)
    throw nanobind::python_error();
}

/// Runs `work(isDetached)` on another thread, without Python's lock, while this thread handles
/// signals (base::runDetachable). If a handler raises, the exception is thrown at once. The
/// work must own everything that it uses and touch no Python object, except to let go of one with
/// the lock. Only Python's main thread handles signals; other threads wait. The caller may hold
/// Python's lock.
template <typename Work> auto interruptibly(Work work) {
  std::optional<nanobind::python_error> raised;
  const auto run = [&] {
    return base::runDetachable(std::move(work), [&] {
      if (!handlesSignals())
        return false;
      const nanobind::gil_scoped_acquire locked;
      if (PyErr_CheckSignals() == 0)
        return false;
      raised.emplace();
      return true;
    });
  };
  auto result = [&] {
    if (PyGILState_Check() == 0)
      return run();
    const nanobind::gil_scoped_release released;
    return run();
  }();
  if (raised)
    throw std::move(*raised);
  return std::move(*result);
}

} // namespace octavo::python
