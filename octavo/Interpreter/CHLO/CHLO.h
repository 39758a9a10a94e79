// The evaluators of CHLO's larger operations.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

void registerRaggedDot(EvaluatorTable& table);
void registerScan(EvaluatorTable& table);

} // namespace octavo::interpreter
