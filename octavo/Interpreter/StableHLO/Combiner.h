// The functions that reductions, windows and scatters apply most: one operation on two scalars.
// They are computed by loops over elements instead of by the evaluation of a region for each.
#pragma once

#include "octavo/Interpreter/Evaluator.h"
#include "octavo/Interpreter/Tensor/Map.h"

#include "mlir/IR/Region.h"

#include <span>

namespace octavo::interpreter {

struct Combiner {
  llvm::StringRef operation; ///< name
  bool (*isDefinedOn)(const ElementType&);
  /// fold<Op> of Fold.h.
  Defined<Tensor> (*fold)(const Tensor& input, const Tensor& init,
                          std::span<const std::int64_t> reduced, const ElementType& type);
  /// map<Op> of two tensors of one shape and type.
  Defined<Tensor> (*map)(const Tensor&, const Tensor&);
  /// target[places[i]] = Op(target[places[i]], updates[i]) in order, of one element type; a
  /// negative place is left out. Requires isDefinedOn(type).
  void (*scatter)(Tensor& target, const Tensor& updates, std::span<const std::int64_t> places);
};

/// The combiner that a body of two arguments is, if it does nothing but apply one such operation to
/// them, in either order, in the given element type. Null otherwise.
const Combiner* findCombiner(mlir::Region& body, const ElementType& type);

/// Whether a body of 2n arguments gives the last n of them: it overwrites.
bool overwrites(mlir::Region& body);

/// The type in which a combiner runs on elements of `type`: f32 for floats narrower than f64 (rule
/// I10).
inline ElementType runningType(const ElementType& type) {
  return type.isFloat() && type != kF64 ? kF32 : type;
}

} // namespace octavo::interpreter
