// StableHLO, complex family: complex numbers from their parts and back, Fourier transforms.
#include "octavo/Dialect/StableHLO/Complex.h"
#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerComplex(EvaluatorTable&) {}

} // namespace octavo::reference
