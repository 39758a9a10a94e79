// Slices of recurring weights that a program selects at run time: a layer that a loop takes from a
// stack, the experts that an array of indices takes, one for each product of a batch. Each slice of
// such a stack is packed once.
#pragma once

#include "octavo/Compiler/Kernels/Views.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace octavo::compiler {

/// A selection of one slice along an axis of a tensor.
struct Choice {
  std::int64_t slices; ///< extent of the axis
  mlir::Value index;   ///< the tensor with the slices' numbers
  /// The element of `index` that selects the slice of a batch's first product, and the distance to
  /// the element of the next product. Distance 0: all products have the same slice.
  std::int64_t first = 0, stride = 0;

  friend bool operator==(const Choice&, const Choice&) = default;
};
/// Nested selections, the outermost first.
using IndexedSlices = llvm::SmallVector<Choice, 2>;
/// The most nested selections that are traced.
inline constexpr int kMostChoices = 4;

/// How many slices the nested selections select from: the product of their extents.
std::int64_t slicesOf(const IndexedSlices& choices);
/// Whether each product of a batch selects its own slice.
bool isOfProduct(const IndexedSlices& choices);

/// An element of nested slices, as an element of the tensor that they are slices of.
struct ChosenElement {
  Element element;
  IndexedSlices choices; ///< the outermost slices first
};

/// Whether tracing an element stops at a conversion, or passes a conversion to bf16 or f32 that
/// keeps every value. A packing step then converts.
enum class Conversions : std::uint8_t { Stop, Widen };

/// Traces an element through views, and through dynamic_slice and gather operations that take whole
/// slices along one axis. Variable `variable` + i counts the slices of selection i, i <
/// kMostChoices. `product` is the number of the element's product in its batch: a gather is passed
/// only if its indices are numbered by it.
ChosenElement throughChoices(Element element, int variable, const Index& product,
                             Conversions conversions, Variables& variables);

/// The number, among the indices of the first gather on that path, of the index that selects the
/// element's slice. nullopt: the path has no gather.
std::optional<Index> choiceNumber(Element element, int variable, Conversions conversions,
                                  Variables& variables);

/// Traces an element through views and value-preserving conversions alone.
Element throughConversions(Element element, Variables& variables);

/// Whether `memory` recurs, that is, may be the same in every run: an argument of the main function
/// or a constant that is not inlined, also if a loop carries it unchanged. Results derived from it,
/// such as packed forms, may be kept.
bool comesAgain(mlir::Value memory);

/// Whether `op` selects slices by an index of the run: a dynamic_slice or a gather. `op` may be
/// null.
bool selectsSlices(mlir::Operation* op);

} // namespace octavo::compiler
