// Registers the evaluators of CHLO's operations that have their own files.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

void registerRaggedDot(EvaluatorTable& table);
void registerScan(EvaluatorTable& table);

} // namespace octavo::interpreter
