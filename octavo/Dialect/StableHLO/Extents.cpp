#include "octavo/Dialect/StableHLO/Extents.h"

#include "octavo/Dialect/StableHLO/Dialect.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

namespace octavo::stablehlo {

bool Extent::isCompatible(Extent other) const {
  if (isKnown() && other.isKnown())
    return number == other.number;
  if (isKnown() && other.isBounded())
    return number <= other.number;
  if (isBounded() && other.isKnown())
    return other.number <= number;
  return true;
}

Extent Extent::mostSpecific(Extent other) const {
  if (isBounded() && other.isBounded())
    return atMost(std::min(number, other.number));
  return kind <= other.kind ? *this : other;
}

Extent Extent::leastSpecific(Extent other) const {
  if (*this == other)
    return *this;
  if (kind == Kind::Unknown || other.kind == Kind::Unknown)
    return unknown();
  return atMost(std::max(number, other.number));
}

std::optional<Extent>
Extent::map(llvm::function_ref<std::optional<std::int64_t>(std::int64_t)> f) const {
  if (kind == Kind::Unknown)
    return *this;
  const std::optional<std::int64_t> mapped = f(number);
  return mapped ? std::optional(Extent{kind, *mapped}) : std::nullopt;
}

std::optional<Extent> Extent::plus(Extent other) const {
  if (kind == Kind::Unknown || other.kind == Kind::Unknown)
    return unknown();
  const std::optional<std::int64_t> sum = llvm::checkedAdd(number, other.number);
  return sum ? std::optional(Extent{std::max(kind, other.kind), *sum}) : std::nullopt;
}

std::string Extent::spell() const {
  return kind == Kind::Unknown ? "?" : (isBounded() ? "at most " : "") + std::to_string(number);
}

Extents extentsOf(mlir::RankedTensorType type) {
  const auto bounds = llvm::dyn_cast_or_null<BoundsAttr>(type.getEncoding());
  Extents extents;
  for (auto [axis, size] : llvm::enumerate(type.getShape())) {
    const std::int64_t bound = bounds && axis < bounds.getBounds().size()
                                   ? bounds.getBounds()[axis]
                                   : mlir::ShapedType::kDynamic;
    extents.push_back(!mlir::ShapedType::isDynamic(size)    ? Extent::known(size)
                      : !mlir::ShapedType::isDynamic(bound) ? Extent::atMost(bound)
                                                            : Extent::unknown());
  }
  return extents;
}

Extents knownExtents(llvm::ArrayRef<std::int64_t> shape) {
  return llvm::map_to_vector(shape, Extent::known);
}

mlir::RankedTensorType tensorOf(llvm::ArrayRef<Extent> extents, mlir::Type element) {
  llvm::SmallVector<std::int64_t> shape, bounds;
  for (Extent extent : extents) {
    const std::int64_t number = extent.largest().value_or(mlir::ShapedType::kDynamic);
    shape.push_back(extent.isKnown() ? number : mlir::ShapedType::kDynamic);
    bounds.push_back(extent.isBounded() ? number : mlir::ShapedType::kDynamic);
  }
  mlir::Attribute encoding;
  if (llvm::any_of(extents, [](Extent extent) { return extent.isBounded(); }))
    encoding = BoundsAttr::get(element.getContext(), bounds);
  return mlir::RankedTensorType::get(shape, element, encoding);
}

bool areCompatible(llvm::ArrayRef<Extent> a, llvm::ArrayRef<Extent> b) {
  return a.size() == b.size() &&
         llvm::all_of_zip(a, b, [](Extent x, Extent y) { return x.isCompatible(y); });
}

std::string spell(llvm::ArrayRef<Extent> extents) {
  return "[" +
         llvm::join(llvm::map_range(extents, [](Extent extent) { return extent.spell(); }), ", ") +
         "]";
}

std::optional<std::int64_t> knownElements(llvm::ArrayRef<Extent> extents) {
  std::int64_t count = 1;
  for (Extent extent : extents) {
    if (!extent.isKnown())
      return std::nullopt;
    count *= *extent.largest();
  }
  return count;
}

} // namespace octavo::stablehlo
