// Where a cache goes in a function: what is appended to it or to parts of it, and what is returned.
#pragma once

#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// The values of an argument that are it or a part of it, as the layer that jax.lax.scan takes from
/// a stack, with or without something appended; what a loop writes such parts into that was zeros,
/// as scan does with those of its results that it stacks; and what joins nothing but such parts.
struct CacheFlow {
  llvm::SetVector<mlir::Value> values;
  llvm::SetVector<mlir::Operation*> entries; ///< dynamic_update_slices that append
  llvm::SetVector<mlir::Operation*> moves;   ///< those that write parts back, or join them
  llvm::SmallVector<unsigned> results;       ///< of the function
  mlir::Operation* scatter = nullptr;        ///< that writes into it
  mlir::Operation* call = nullptr;          ///< that takes it, and appends something or takes parts
  mlir::Operation* branchingLoop = nullptr; ///< some of whose rounds are given other values
  /// The first that is not followed between it and what is appended, or that and a result.
  mlir::Operation* inTheWay = nullptr;

  /// The first operation that `isFound` among those that take what is computed from the values;
  /// null where there is none.
  mlir::Operation* findReader(llvm::function_ref<bool(mlir::Operation*)> isFound) const;
  bool isReadByDot() const;
};

/// With the calls opened that append to a cache or take parts of it, and those that may read one in
/// a dot.
CacheFlow cacheFlow(mlir::BlockArgument argument);

/// What an argument lacks that a dot reads, that nothing is appended to, and that yet seems to be
/// meant for a cache: the first operation that gives another tensor in its place, which is appended
/// to, or returned. Null where it seems to be none.
struct NearCache {
  mlir::Operation* op = nullptr;
  bool isAppendedTo = false;
};
NearCache nearCache(mlir::BlockArgument argument);

/// The axis of a part of a cache, or of what is written into one, that is an axis of the cache:
/// parts leave out or have more axes of one element before the others. Nothing where it has none.
std::optional<std::int64_t> axisOfPart(mlir::Value part, mlir::RankedTensorType cache,
                                       std::int64_t axis);

} // namespace octavo::transforms
