// Quantized family: text, type inference and verifiers.
#include "octavo/Dialect/StableHLO/Quantized.h"

#define GET_OP_CLASSES
#include "octavo/Dialect/StableHLO/Quantized.cpp.inc"

namespace octavo::stablehlo {

void StableHLODialect::registerQuantized() {
  addOperations<
#define GET_OP_LIST
#include "octavo/Dialect/StableHLO/Quantized.cpp.inc"
      >();
}

} // namespace octavo::stablehlo
