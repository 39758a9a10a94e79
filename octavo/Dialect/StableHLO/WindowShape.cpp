#include "octavo/Dialect/StableHLO/WindowShape.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace octavo::stablehlo {

namespace {

/// The extent that `count` elements cover if they are `step` apart; nullopt on overflow.
std::optional<std::int64_t> spanOf(std::int64_t count, std::int64_t step) {
  return count == 0 ? std::optional<std::int64_t>(0)
                    : llvm::checkedMulAdd<std::int64_t>(count - 1, step, 1);
}

std::int64_t at(std::optional<llvm::ArrayRef<std::int64_t>> list, std::int64_t axis) {
  return list && !list->empty() ? (*list)[static_cast<std::size_t>(axis)] : 1;
}

} // namespace

std::optional<std::int64_t> windowCount(std::int64_t extent, const WindowAxis& axis) {
  const auto base = spanOf(extent, axis.baseDilation);
  const auto window = spanOf(axis.size, axis.windowDilation);
  if (!base || !window)
    return std::nullopt;
  const auto lowered = llvm::checkedAdd(*base, axis.low);
  const auto padded = lowered ? llvm::checkedAdd(*lowered, axis.high) : std::nullopt;
  if (!padded || *padded < 0)
    return std::nullopt;
  return *padded == 0 || *window > *padded ? 0 : (*padded - *window) / axis.stride + 1;
}

Window windowOf(std::int64_t rank, const WindowAttributes& attributes) {
  llvm::SmallVector<std::int64_t> padding;
  if (attributes.padding)
    padding = llvm::to_vector(attributes.padding->getValues<std::int64_t>());
  Window window;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    window.push_back({.size = at(attributes.sizes, axis),
                      .stride = at(attributes.strides, axis),
                      .low = padding.empty() ? 0 : padding[2 * axis],
                      .high = padding.empty() ? 0 : padding[2 * axis + 1],
                      .baseDilation = at(attributes.baseDilations, axis),
                      .windowDilation = at(attributes.windowDilations, axis)});
  return window;
}

llvm::FailureOr<Window> verifyWindow(const Checker& check, const WindowRules& rules,
                                     std::int64_t rank, const WindowAttributes& attributes) {
  const std::pair<std::optional<llvm::ArrayRef<std::int64_t>>, const WindowRules::OfList*> lists[] =
      {{attributes.sizes, &rules.sizes},
       {attributes.strides, &rules.strides},
       {attributes.baseDilations, &rules.baseDilations},
       {attributes.windowDilations, &rules.windowDilations}};
  for (const auto& [list, rule] : lists)
    if (list && !list->empty() &&
        (failed(check.oneEach(rule->count, rule->name, *list, rank, "axes")) ||
         failed(check.positive(rule->positive, rule->name, *list))))
      return mlir::failure();
  if (attributes.padding) {
    const mlir::ShapedType type = attributes.padding->getType();
    if (type.getShape() != llvm::ArrayRef<std::int64_t>({rank, 2}))
      return check.violated(rules.padding, "padding must have two numbers for each of ", rank,
                            " axes; found ", type);
  }
  return windowOf(rank, attributes);
}

llvm::FailureOr<Extents> windowedExtents(const Checker& check, llvm::StringRef rule,
                                         llvm::ArrayRef<Extent> extents, const Window& window) {
  Extents shape;
  for (auto [axis, extent] : llvm::enumerate(extents)) {
    const std::optional<Extent> count =
        extent.map([&](std::int64_t size) { return windowCount(size, window[axis]); });
    if (!count)
      return check.violated(rule, "padding gives axis ", axis,
                            " an extent that is negative or does not fit 63 bits");
    shape.push_back(*count);
  }
  return shape;
}

} // namespace octavo::stablehlo
