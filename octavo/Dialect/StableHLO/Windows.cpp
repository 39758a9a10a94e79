// Windows family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Windows.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Windows.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerWindows() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Windows.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
