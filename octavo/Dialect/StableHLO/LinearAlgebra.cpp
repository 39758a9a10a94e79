// Linear algebra family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/LinearAlgebra.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/LinearAlgebra.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerLinearAlgebra() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/LinearAlgebra.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
