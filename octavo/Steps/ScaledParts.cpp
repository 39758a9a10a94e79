#include "octavo/Steps/ScaledParts.h"

#include "octavo/Steps/Product.h"

#include <algorithm>
#include <cstring>

namespace octavo::steps {

numerics::ScaledTensor tensorOf(const Worker& worker, const ScaledParts& parts) {
  numerics::ScaledTensor tensor{parts.shape, parts.type, {}, {}, parts.outerScale(worker)};
  const auto* codes = worker.at<const std::uint8_t>(parts.elements);
  tensor.elements.assign(codes, codes + numerics::elementCount(parts.shape));
  const auto bytes = static_cast<std::size_t>(parts.type.scale->bytes());
  const std::byte* scales = worker.at<const std::byte>(parts.scales);
  tensor.scales.resize(static_cast<std::size_t>(
      numerics::elementCount(format::scaleShape(parts.shape, parts.type.block))));
  for (std::size_t i = 0; i < tensor.scales.size(); ++i)
    std::memcpy(&tensor.scales[i], scales + i * bytes, bytes);
  return tensor;
}

Outcome PackPartsStep::compute(const Frame& /*frame*/, Worker& worker, RowRange range,
                               const kernels::Execution& execution) const {
  const RowRange own = range.of(rows);
  const auto extent = [](std::int64_t block, std::int64_t n) {
    return std::max<std::int64_t>(1, block == format::kWholeAxis ? n : std::min(block, n));
  };
  const std::int64_t along = extent(plan.left.along, plan.depth);
  const int bytes = plan.left.scale->bytes();
  // Ranges are whole blocks: of rows, or of all of them under one scale.
  const std::int64_t grid = (plan.depth + along - 1) / along;
  const std::int64_t first =
      plan.left.across == format::kWholeAxis ? 0 : own.begin / plan.left.across * grid;
  kernels::PackedOperand& target = worker.packed[static_cast<std::size_t>(packed)];
  target = kernels::pack(
      kernels::ScaledView{.element = plan.left.element,
                          .scale = plan.left.scale,
                          .rows = own.size(),
                          .depth = plan.depth,
                          .across = extent(plan.left.across, own.size()),
                          .along = along,
                          .elements =
                              worker.at<const std::uint8_t>(from.elements) + own.begin * plan.depth,
                          .scales = worker.at<const std::byte>(from.scales) + first * bytes,
                          .scaleBytes = bytes,
                          .outer = from.outerScale(worker)},
      kernels::Side::Left, plan, execution, std::move(target));
  return {};
}

StepFacts PackPartsStep::facts() const {
  return {.kind = StepFacts::Kind::Pack,
          .detail = formatName(plan.left, plan.depth),
          .operations = 0,
          .bytes = 2 * bytesOf(plan.left, rows, plan.depth)};
}

} // namespace octavo::steps
