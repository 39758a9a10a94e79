// Registers evaluators for operations of MLIR's own dialects, which exporters to StableHLO leave in
// programs.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

namespace octavo::interpreter {

void registerArith(EvaluatorTable& table);
void registerMath(EvaluatorTable& table);
void registerShapeArithmetic(EvaluatorTable& table);       ///< tensor and shape
void registerStructuredControlFlow(EvaluatorTable& table); ///< scf and cf

} // namespace octavo::interpreter
