// The extents of a tensor type: known, bounded or unknown. Type inference computes with them, so
// that unknown extents stay unknown and bounds are kept.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::stablehlo {

/// The extent of one axis.
class Extent {
public:
  static Extent known(std::int64_t size) { return {Kind::Known, size}; }
  static Extent atMost(std::int64_t bound) { return {Kind::Bounded, bound}; }
  static Extent unknown() { return {Kind::Unknown, mlir::ShapedType::kDynamic}; }

  bool isKnown() const { return kind == Kind::Known; }
  bool isBounded() const { return kind == Kind::Bounded; }
  /// Whether the extent is known and equal to `size`.
  bool is(std::int64_t size) const { return isKnown() && number == size; }
  /// The size or the bound; nullopt if the extent is unknown.
  std::optional<std::int64_t> largest() const {
    return kind == Kind::Unknown ? std::nullopt : std::optional(number);
  }

  /// Whether both extents can be the same number.
  bool isCompatible(Extent other) const;
  /// mostSpecific: what two compatible extents imply together. leastSpecific: what holds for a
  /// value of either extent.
  Extent mostSpecific(Extent other) const;
  Extent leastSpecific(Extent other) const;

  /// Applies `f`, which must be monotonic, to the size or the bound. Unknown stays unknown. nullopt
  /// if `f` returns nullopt.
  std::optional<Extent> map(llvm::function_ref<std::optional<std::int64_t>(std::int64_t)> f) const;

  /// The sum; nullopt if it does not fit 63 bits.
  std::optional<Extent> plus(Extent other) const;

  /// "3", "?", or "at most 3".
  std::string spell() const;

  friend bool operator==(Extent, Extent) = default;

private:
  enum class Kind : std::uint8_t { Known, Bounded, Unknown };
  Extent(Kind kind, std::int64_t number) : kind(kind), number(number) {}

  Kind kind;
  std::int64_t number;
};

using Extents = llvm::SmallVector<Extent>;

/// The extents of a type; bounds come from its encoding.
Extents extentsOf(mlir::RankedTensorType type);

/// The known extents of `shape`.
Extents knownExtents(llvm::ArrayRef<std::int64_t> shape);

/// The tensor type with these extents; bounds become its encoding.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Extent> extents, mlir::Type element);

/// Whether two shapes have the same rank and compatible extents on each axis.
bool areCompatible(llvm::ArrayRef<Extent> a, llvm::ArrayRef<Extent> b);

/// `[2, ?, at most 4]`, for messages.
std::string spell(llvm::ArrayRef<Extent> extents);

/// The number of elements; nullopt if an extent is not known.
std::optional<std::int64_t> knownElements(llvm::ArrayRef<Extent> extents);

} // namespace octavo::stablehlo
