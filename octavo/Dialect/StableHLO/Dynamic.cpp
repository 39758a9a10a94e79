// Dynamic family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Dynamic.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Dynamic.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerDynamic() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Dynamic.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
