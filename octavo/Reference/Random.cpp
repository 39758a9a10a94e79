// StableHLO, random family: random bits and numbers.
#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerRandom(EvaluatorTable&) {}

} // namespace octavo::reference
