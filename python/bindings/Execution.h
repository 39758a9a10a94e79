// How calls of the module run.
#pragma once

#include "octavo/Kernels/Execution.h"

namespace octavo::python {

/// The default instruction set, with the number of threads that set_threads gave.
kernels::Execution execution();

} // namespace octavo::python
