// Dots that choose experts, by what becomes of their results.
#pragma once

#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::transforms {

/// Whether a dot with a weight at `weight`, 0 or 1, gives scores of E experts: through operations
/// that are no products the scores reach a choice along an axis of E (top_k, argmax, a sort that
/// carries places), and what was chosen selects, by further ones, matrices of a weight or rows of
/// activations (gather, dynamic_slice, scatter, groups of a ragged dot), or is compared with places
/// and multiplies activations or matrices of a weight. What looks up rows of a weight, as of a
/// table of embeddings, or the scores themselves, chooses tokens.
bool isRouter(stablehlo::DotGeneralOp dot, unsigned weight,
              llvm::function_ref<bool(mlir::Value)> isWeight, const ProgramCalls& program);

} // namespace octavo::transforms
