// Helpers of every call: threads and instruction set, Python's lock, objects that are made once.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <nanobind/nanobind.h>

#include <atomic>

namespace octavo::python {

/// The default instruction set, with the number of threads that set_threads gave.
kernels::Execution execution();

/// Runs `work` without the interpreter's lock. `work` must not touch a Python object, not even to
/// copy a reference.
template <typename Work> auto withoutLock(Work&& work) {
  const nanobind::gil_scoped_release released;
  return work();
}

/// The result of `make`, which the first call computes and which is never destroyed: a destructor
/// would run after Python's end. This is not a static variable of C++, because `make` may release
/// the interpreter's lock (an import does) while another thread holds the lock and waits for the
/// variable: a deadlock. If two threads call `make` at once, one result is kept.
template <typename Make> const auto& madeOnce(const Make& make) {
  using Made = decltype(make());
  static constinit std::atomic<const Made*> kept = nullptr;
  if (const Made* found = kept)
    return *found;
  const Made* none = nullptr;
  const auto* made = new Made(make());
  return kept.compare_exchange_strong(none, made) ? *made : *none;
}

} // namespace octavo::python
