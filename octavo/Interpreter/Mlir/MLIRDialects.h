// The evaluators of MLIR's own dialects, of which exporters to StableHLO leave some operations.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

void registerArith(EvaluatorTable& table);
void registerMath(EvaluatorTable& table);
void registerShapeArithmetic(EvaluatorTable& table);       ///< tensor and shape
void registerStructuredControlFlow(EvaluatorTable& table); ///< scf and cf

} // namespace octavo::interpreter
