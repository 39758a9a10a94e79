// Converts dimension numbers of the IR to those of the product kernels.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Interpreter/Products/OperandLayout.h"

namespace octavo::interpreter {

/// The axes of a dot_general.
inline DotDimensions dotDimensions(stablehlo::DotDimensionNumbersAttr numbers) {
  return {.lhsBatch = numbers.getLhsBatchingDimensions().vec(),
          .rhsBatch = numbers.getRhsBatchingDimensions().vec(),
          .lhsContracting = numbers.getLhsContractingDimensions().vec(),
          .rhsContracting = numbers.getRhsContractingDimensions().vec()};
}

} // namespace octavo::interpreter
