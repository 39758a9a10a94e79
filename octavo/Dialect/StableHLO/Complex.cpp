// Complex family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Complex.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Complex.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerComplex() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Complex.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
