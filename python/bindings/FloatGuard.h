// The processor's state in which functions of the modules compute.
#pragma once

#include "octavo/Parallel/FloatEnvironment.h"

#include <nanobind/nanobind.h>

namespace octavo::python {

/// Among the arguments of every `def`: the function runs in DefaultFloatEnvironment, whatever its
/// caller computes with.
using DefaultFloats = nanobind::call_guard<parallel::DefaultFloatEnvironment>;

} // namespace octavo::python
