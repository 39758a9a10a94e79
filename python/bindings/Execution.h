// How calls of the module run.
#pragma once

#include "octavo/Kernels/Execution.h"

#include <nanobind/nanobind.h>

namespace octavo::python {

/// The default instruction set, with the number of threads that set_threads gave.
kernels::Execution execution();

/// Does `work` without the interpreter's lock: it touches no Python object, not even to copy one.
template <typename Work> auto withoutLock(Work&& work) {
  const nanobind::gil_scoped_release released;
  return work();
}

} // namespace octavo::python
