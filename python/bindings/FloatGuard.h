// The floating-point environment in which functions of the modules compute.
#pragma once

#include "octavo/Base/FloatEnvironment.h"

#include <nanobind/nanobind.h>

namespace octavo::python {

/// An argument of every `def`: the function runs in the default floating-point environment,
/// whatever rounding mode or flushing its caller has set.
using DefaultFloats = nanobind::call_guard<base::DefaultFloatEnvironment>;

} // namespace octavo::python
