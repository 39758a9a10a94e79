// Operations that write to places that come from data, as functions of their own: what comes first
// is written first.
#pragma once

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Windows.h"

namespace octavo::compiler {

/// A function whose rows may run in any order and at once.
struct WritingCode {
  KernelCode code;
  std::int64_t rows;
  std::int64_t costOfRow; ///< in elements that are written
};

/// Why there is no code for the operation; empty where there is.
std::string whyNoScatter(stablehlo::ScatterOp op);
std::string whyNoScatter(stablehlo::SelectAndScatterOp op);

/// Of scatter, on results that hold the inputs. A row is an element of what is written for each
/// index: a run of one index after the other for each.
WritingCode emitScatter(stablehlo::ScatterOp op);
/// Of select_and_scatter, the result filled first. A row is what no window crosses.
WritingCode emitScatter(stablehlo::SelectAndScatterOp op);

} // namespace octavo::compiler
