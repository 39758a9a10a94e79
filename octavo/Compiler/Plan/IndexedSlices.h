// Slices that a program chooses when it runs, of weights that come again: layers that a loop or an
// index takes from a stack, experts that an array of indices takes, one for each product of a
// batch. Who packs a weight packs each slice once.
#pragma once

#include "octavo/Compiler/Kernels/Views.h"

#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>

namespace octavo::compiler {

/// One of several slices along an axis.
struct Choice {
  std::int64_t slices;
  mlir::Value index; ///< which
  /// Among the elements of `index`: that of a batch's first product, and how far that of the next
  /// one is from it; 0: all have the same.
  std::int64_t first = 0, stride = 0;

  friend bool operator==(const Choice&, const Choice&) = default;
};
using IndexedSlices = llvm::SmallVector<Choice, 2>;
inline constexpr int kMostChoices = 4;

std::int64_t slicesOf(const IndexedSlices& choices);
/// Whether products of a batch choose slices for themselves.
bool isOfProduct(const IndexedSlices& choices);

/// An element of a slice of slices, as an element of what they are slices of.
struct ChosenElement {
  Element element;
  IndexedSlices choices; ///< the outermost slices first
};

/// Whether the way to an element goes through conversions that keep the values of all floats, to
/// bf16 or f32: who packs them converts them.
enum class Conversions : std::uint8_t { Stop, Widen };

/// Through views, and slices and gathers that take whole slices along one axis. Variables from
/// `variable` on, kMostChoices at most, count the slices of each choice in turn. `product` is the
/// number of the element's product in its batch: what gathers must choose by.
ChosenElement throughChoices(Element element, int variable, const Index& product,
                             Conversions conversions, Variables& variables);

/// The number among its indices by which the first gather on that way chooses, if there is any.
std::optional<Index> choiceNumber(Element element, int variable, Conversions conversions,
                                  Variables& variables);

/// Through views and conversions alone.
Element throughConversions(Element element, Variables& variables);

/// Whether memory is an argument of the function or a constant, in a loop too that leaves it as it
/// is: what is made of it once may be kept.
bool comesAgain(mlir::Value memory);

} // namespace octavo::compiler
