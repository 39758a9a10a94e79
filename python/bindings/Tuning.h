// octavo.tune as a function of octavo._programs.
#pragma once

#include <nanobind/nanobind.h>

namespace octavo::python {

/// Adds `tune` to the module.
void addTuning(nanobind::module_& module);

} // namespace octavo::python
