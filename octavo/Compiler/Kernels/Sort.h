// The functions that a sort calls on elements.
#pragma once

#include "octavo/Compiler/Kernels/Kernel.h"
#include "octavo/Dialect/StableHLO/Sort.h"

#include <optional>

namespace octavo::compiler {

/// The functions of one sort.
struct SortCode {
  /// Compares two elements. memory: its arguments, then a byte that is set to 1 if element `begin`
  /// comes before element `end`, else to 0.
  KernelCode comparator;
  /// Sort keys: unsigned numbers that, compared one after the other, order elements as the
  /// comparator does. memory: its arguments, then the keys of one element after another, then a
  /// byte that is set to 1 if an element from `begin` to `end` has no place in the order (NaN).
  struct Keys {
    KernelCode code;
    std::int64_t count, bytes; ///< numbers of an element; bytes of a number, 4 or 8
  };
  std::optional<Keys> keys; ///< nullopt: the comparator is not an order by keys
};

/// Why there is no code for the operation; empty if there is.
std::string whyNoSort(stablehlo::SortOp op);

SortCode emitSort(stablehlo::SortOp op);

} // namespace octavo::compiler
