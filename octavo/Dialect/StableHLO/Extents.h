// Extents of a tensor type: known, bounded or unknown. Type inference computes with them, so that
// what is unknown stays unknown and bounds are carried along.
#pragma once

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CheckedArithmetic.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::stablehlo {

class Extent {
public:
  static Extent known(std::int64_t size) { return {Kind::Known, size}; }
  static Extent atMost(std::int64_t bound) { return {Kind::Bounded, bound}; }
  static Extent unknown() { return {Kind::Unknown, mlir::ShapedType::kDynamic}; }

  bool isKnown() const { return kind == Kind::Known; }
  bool isBounded() const { return kind == Kind::Bounded; }
  /// Whether it is known to be `size`.
  bool is(std::int64_t size) const { return isKnown() && number == size; }
  /// The largest it can be; nothing where that is not known.
  std::optional<std::int64_t> largest() const {
    return kind == Kind::Unknown ? std::nullopt : std::optional(number);
  }

  /// Whether two extents may be one.
  bool isCompatible(Extent other) const;
  /// What two compatible extents say together, and what is true of either.
  Extent mostSpecific(Extent other) const;
  Extent leastSpecific(Extent other) const;

  /// `f` of the size or the bound, which must grow with it; nothing where `f` gives nothing.
  std::optional<Extent> map(llvm::function_ref<std::optional<std::int64_t>(std::int64_t)> f) const;

  /// The sum; nothing where it does not fit 63 bits.
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

/// The extents of a type, its bounds taken from its encoding.
Extents extentsOf(mlir::RankedTensorType type);

/// Extents that are all known.
Extents knownExtents(llvm::ArrayRef<std::int64_t> shape);

/// The tensor type that has these extents; bounds go to its encoding.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<Extent> extents, mlir::Type element);

/// Whether two shapes may be one: of one rank, axis by axis.
bool areCompatible(llvm::ArrayRef<Extent> a, llvm::ArrayRef<Extent> b);

/// `[2, ?, at most 4]`, for messages.
std::string spell(llvm::ArrayRef<Extent> extents);

/// The number of elements, where it is known.
std::optional<std::int64_t> knownElements(llvm::ArrayRef<Extent> extents);

} // namespace octavo::stablehlo
