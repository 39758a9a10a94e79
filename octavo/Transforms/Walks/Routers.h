// Finds the dots that choose experts, by the uses of their results.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::transforms {

/// Whether a dot, with its weight at operand `weight` (0 or 1), computes the scores of E experts. A
/// choice that looks up rows of a weight (an embedding table), or the scores themselves, chooses
/// tokens: not a router. Both must hold:
/// - Through operations other than products, the scores reach a choice along an axis of extent E:
///   top_k, argmax, or a sort that carries indices.
/// - The choice selects matrices of a weight or rows of activations: gather, dynamic_slice,
///   scatter, the groups of a ragged dot. Or it is compared with indices, and the result multiplies
///   activations or matrices of a weight.
bool isRouter(stablehlo::DotGeneralOp dot, unsigned weight,
              llvm::function_ref<bool(mlir::Value)> isWeight, const ProgramCalls& program);

} // namespace octavo::transforms
