// StableHLO, dynamic family: operations that take shapes, sizes and paddings as operands.
#include "octavo/Dialect/StableHLO/Dynamic.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerDynamic(EvaluatorTable&) {}

} // namespace octavo::reference
