// Sort family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Sort.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Sort.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerSort() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Sort.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
