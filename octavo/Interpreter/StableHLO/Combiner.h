// Fast loops for the most frequent bodies of reductions, windows and scatters: one operation on two
// scalars. Other bodies are evaluated as regions, once for each element.
#pragma once

#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/Tensor/Map.h"

#include "mlir/IR/Region.h"

#include <span>

namespace octavo::interpreter {

/// A scalar operation and its loops.
struct Combiner {
  llvm::StringRef operation; ///< its name
  bool (*isDefinedOn)(const ElementType&);
  /// fold<Op> (Fold.h).
  Defined<Tensor> (*fold)(const Tensor& input, const Tensor& init,
                          std::span<const std::int64_t> reduced, const ElementType& type);
  /// map<Op> (Map.h) of two tensors of one shape and type.
  Defined<Tensor> (*map)(const Tensor&, const Tensor&);
  /// For each i in order: target[places[i]] = Op(target[places[i]], updates[i]). Both tensors have
  /// one element type with isDefinedOn(type). Negative places are skipped.
  void (*scatter)(Tensor& target, const Tensor& updates, std::span<const std::int64_t> places);
};

/// The combiner of a body that only applies such an operation, in the element type `type`, to its
/// two arguments in either order. Null for any other body.
const Combiner* findCombiner(mlir::Region& body, const ElementType& type);

/// Whether a body of 2n arguments returns its last n arguments, so that elements are overwritten.
bool overwrites(mlir::Region& body);

/// The type in which a combiner computes on elements of `type`: f32 for floats other than f64 (rule
/// I10), else `type`.
inline ElementType runningType(const ElementType& type) {
  return type.isFloat() && type != kF64 ? kF32 : type;
}

} // namespace octavo::interpreter
