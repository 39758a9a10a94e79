// Operations that write to indices that come from data, each as a function of its own. Updates are
// applied in their order.
#pragma once

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Dialect/StableHLO/Indexing.h"
#include "octavo/Dialect/StableHLO/Windows.h"

namespace octavo::compiler {

/// A function whose rows may run in any order and concurrently.
struct WritingCode {
  KernelCode code;
  std::int64_t rows;
  std::int64_t costOfRow; ///< in written elements
};

/// Why there is no code for the operation; empty if there is.
std::string whyNoScatter(stablehlo::ScatterOp op);
std::string whyNoScatter(stablehlo::SelectAndScatterOp op);

/// The code of a scatter whose results already hold the inputs. A row is one element of each update
/// window; it applies all updates, one after the other.
WritingCode emitScatter(stablehlo::ScatterOp op);
/// The code of a select_and_scatter; it fills the result first. A row is a part of the result that
/// no window crosses.
WritingCode emitScatter(stablehlo::SelectAndScatterOp op);

} // namespace octavo::compiler
