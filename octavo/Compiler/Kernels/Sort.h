// The functions by which elements are sorted.
#pragma once

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Dialect/StableHLO/Sort.h"

#include <optional>

namespace octavo::compiler {

struct SortCode {
  /// memory: its arguments, then a byte that becomes 1 where element `begin` comes before element
  /// `end`, else 0.
  KernelCode comparator;
  /// Numbers without sign whose order is the comparator's, from the first on. memory: arguments,
  /// then the keys, those of one element after those of another, then a byte that becomes 1 where
  /// one of elements `begin` to `end` has no place in the order.
  struct Keys {
    KernelCode code;
    std::int64_t count, bytes; ///< of one: 4 or 8
  };
  std::optional<Keys> keys;
};

/// Why there is no code for the operation; empty where there is.
std::string whyNoSort(stablehlo::SortOp op);

SortCode emitSort(stablehlo::SortOp op);

} // namespace octavo::compiler
