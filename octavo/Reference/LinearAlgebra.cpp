// StableHLO, linear algebra family: factors of matrices, and systems that they solve.
#include "octavo/Dialect/StableHLO/LinearAlgebra.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerLinearAlgebra(EvaluatorTable&) {}

} // namespace octavo::reference
