// StableHLO, windows family: convolutions, and reductions over windows that move.
#include "octavo/Dialect/StableHLO/Windows.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerWindows(EvaluatorTable&) {}

} // namespace octavo::reference
