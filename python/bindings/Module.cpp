#include "python/bindings/Bindings.h"
#include "python/bindings/Errors.h"

#include "octavo/Kernels/Isa.h"

NB_MODULE(_core, module) {
  using namespace octavo::python;
  // A wrong OCTAVO_ISA fails here once, not in each function.
  if (const auto& isa = octavo::kernels::configuredIsa(); !isa)
    throw nanobind::import_error(isa.error().c_str());
  // JAX keeps compiled functions, and so objects of this module, alive until after Python's end.
  nanobind::set_leak_warnings(false);
  module.attr("__version__") = OCTAVO_VERSION;
  registerErrors();
  bindFormats(module);
  bindExecution(module);
  bindConversions(module);
  bindScaledTensor(module);
  bindQuantization(module);
  bindProducts(module);
  bindDelayedScaling(module);
  bindCodes(module);
  bindFnuz(module);
  bindAnalysis(module);
  bindSafetensors(module);
  bindCheckpoint(module);
  bindJaxCalls(module);
}
