#include "octavo/Kernels/RoundedRun.h"

#include "octavo/Kernels/KernelTable.h"

namespace octavo::kernels {

bool areRounded(const RoundedRun& run, const Execution& execution) {
  return kernelTable(execution.isa).areRounded(run);
}

} // namespace octavo::kernels
