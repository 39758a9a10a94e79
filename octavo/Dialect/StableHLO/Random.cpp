// Random family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Random.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Random.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerRandom() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Random.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
