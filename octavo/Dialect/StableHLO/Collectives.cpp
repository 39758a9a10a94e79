// Collectives family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Collectives.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Collectives.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerCollectives() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Collectives.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
