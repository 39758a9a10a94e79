// StableHLO, quantized family: between numbers and the integers that stand for them.
#include "octavo/Dialect/StableHLO/Quantized.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerQuantized(EvaluatorTable&) {}

} // namespace octavo::reference
