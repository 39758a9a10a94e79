// Checks that programs spell as custom calls.
#pragma once

#include "octavo/Reference/Evaluator.h"

namespace octavo::reference {

/// stablehlo.custom_call @check.eq, @check.expect_eq, @check.expect_almost_eq and
/// @check.expect_close (rule I18): two tensors of one type, what is found and what is expected.
/// @check.eq gives a truth value, the others nothing.
llvm::Expected<Results> evaluateCheckCall(mlir::Operation* op, llvm::StringRef target,
                                          const Operands& operands, Evaluation& evaluation);

} // namespace octavo::reference
