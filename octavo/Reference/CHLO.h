// The evaluators of CHLO's larger operations.
#pragma once

#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

void registerRaggedDot(EvaluatorTable& table);
void registerScan(EvaluatorTable& table);

} // namespace octavo::reference
