// StableHLO, collectives family: collectives, channels, and who a process is in its grid.
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerCollectives(EvaluatorTable&) {}

} // namespace octavo::reference
