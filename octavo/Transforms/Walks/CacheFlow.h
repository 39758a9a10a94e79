// Dataflow of a KV cache in a function: what is appended to the cache or its parts, and which
// results return it.
#pragma once

#include "octavo/Dialect/StableHLO/Indexing.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

#include <cstdint>
#include <optional>

namespace octavo::transforms {

/// The values that hold a cache argument, or a part of it:
/// - the argument itself and its slices, such as the layer that jax.lax.scan takes from a stack,
///   with or without something appended;
/// - zeros that a loop overwrites with such parts, as scan does for the results that it stacks;
/// - concatenations of nothing but such parts.
struct CacheFlow {
  /// In the order in which they were found; the argument comes first.
  llvm::SetVector<mlir::Value> values;
  llvm::SetVector<mlir::Operation*> entries; ///< dynamic_update_slices that append
  llvm::SetVector<mlir::Operation*> moves;   ///< dynamic_update_slices that write a part back, and
                                             ///< joins of parts
  llvm::SmallVector<unsigned> results;       ///< numbers of the function's results that return the
                                             ///< cache
  mlir::Operation* scatter = nullptr;        ///< a scatter into the cache
  mlir::Operation* call = nullptr;           ///< a call that takes the cache and appends to it or
                                             ///< slices it
  mlir::Operation* branchingLoop = nullptr;  ///< a loop that carries the cache in some iterations
                                             ///< only
  /// The first operation that is not followed on the way to an append, or to a result that returns
  /// the cache.
  mlir::Operation* inTheWay = nullptr;

  /// The first operation for which `isFound` holds, among the transitive users of the values; null
  /// if there is none.
  mlir::Operation* findReader(llvm::function_ref<bool(mlir::Operation*)> isFound) const;
  /// Whether a dot reads one of the values, directly or through other operations.
  bool isReadByDot() const;
};

/// Follows the argument. Inlines, in the module, the calls that append to the cache, slice it, or
/// may read it in a dot.
CacheFlow cacheFlow(mlir::BlockArgument argument);

/// Why an argument that looks like a cache is not one: a dot reads it, nothing is followed to an
/// append, but another tensor computed from it is appended to or returned. `op` is the first
/// operation that makes that other tensor; null if the argument does not look like a cache.
struct NearCache {
  mlir::Operation* op = nullptr;
  /// Whether the other tensor is appended to; else it is returned.
  bool isAppendedTo = false;
};
/// Explains an argument for which cacheFlow finds no append. May inline calls, as cacheFlow does.
NearCache nearCache(mlir::BlockArgument argument);

/// Which axis of `part` is `axis` of the cache. `part` may lack leading axes of the cache, or have
/// further leading axes of extent 1. nullopt: the part does not have that axis, or an extent is
/// unknown.
std::optional<std::int64_t> axisOfPart(mlir::Value part, mlir::RankedTensorType cache,
                                       std::int64_t axis);

} // namespace octavo::transforms
