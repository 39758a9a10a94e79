// The parts of the extension module octavo._core: one source file and one bind function for each
// subject. A new part needs its source file, its function here and a call in Module.cpp.
#pragma once

#include <nanobind/nanobind.h>

namespace octavo::python {

void bindFormats(nanobind::module_& module);
void bindExecution(nanobind::module_& module);
void bindConversions(nanobind::module_& module);
void bindScaledTensor(nanobind::module_& module);
void bindQuantization(nanobind::module_& module);
void bindProducts(nanobind::module_& module);
void bindDelayedScaling(nanobind::module_& module);
void bindCodes(nanobind::module_& module);
void bindFnuz(nanobind::module_& module);
void bindAnalysis(nanobind::module_& module);
void bindSafetensors(nanobind::module_& module);
void bindCheckpoint(nanobind::module_& module);
void bindJaxCalls(nanobind::module_& module);

} // namespace octavo::python
