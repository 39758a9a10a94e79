// CHLO: higher operations that JAX emits next to StableHLO.
#include "octavo/Reference/Arithmetic.h"
#include "octavo/Reference/ElementwiseEvaluator.h"

namespace octavo::reference {

void registerCHLO(EvaluatorTable& table) {
  table.add("chlo.erf", evaluateUnary<Erf>);
  table.add("chlo.erfc", evaluateUnary<Erfc>);
  table.add("chlo.square", evaluateUnary<Square>);
}

} // namespace octavo::reference
