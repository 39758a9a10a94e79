// How calls of the module run.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <nanobind/nanobind.h>

#include <atomic>

namespace octavo::python {

/// The default instruction set, with the number of threads that set_threads gave.
kernels::Execution execution();

/// Does `work` without the interpreter's lock: it touches no Python object, not even to copy one.
template <typename Work> auto withoutLock(Work&& work) {
  const nanobind::gil_scoped_release released;
  return work();
}

/// What `make` gives, made by the first caller and kept for good: a destructor would run after
/// Python's end. It is no static of C++, whose maker may let go of the interpreter's lock, as
/// imports do, while others wait for it that hold the lock. Two callers may both make one.
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
