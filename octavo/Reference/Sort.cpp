// StableHLO, sort family: orders, and searches that follow from them.
#include "octavo/Dialect/StableHLO/Sort.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerSort(EvaluatorTable&) {}

} // namespace octavo::reference
