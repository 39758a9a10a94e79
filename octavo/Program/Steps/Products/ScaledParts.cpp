#include "octavo/Program/Steps/Products/ScaledParts.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/ThreadMemory.h"
#include "octavo/Program/Steps/Products/Product.h"

#include <algorithm>
#include <cstring>

namespace octavo::program {

void copyTensor(const Worker& worker, const ScaledParts& parts, std::int64_t items,
                numerics::ScaledTensor& tensor) {
  const kernels::ThreadKept<ScaledShape::OfItems> now;
  parts.shape.close(items, *now);
  tensor.shape = now->shape;
  tensor.type = now->type;
  tensor.outer = parts.slots.outerScale(worker);
  const auto* codes = worker.at<const std::uint8_t>(parts.slots.elements);
  tensor.elements.assign(codes, codes + numerics::elementCount(now->shape));
  const auto bytes = static_cast<std::size_t>(now->type.scale->bytes());
  const std::byte* scales = worker.at<const std::byte>(parts.slots.scales);
  tensor.scales.assign(static_cast<std::size_t>(kernels::blocksOf(now->shape, now->type.block)), 0);
  for (std::size_t i = 0; i < tensor.scales.size(); ++i)
    std::memcpy(&tensor.scales[i], scales + i * bytes, bytes);
}

/// The extent of a block on an axis of n elements.
static std::int64_t extent(std::int64_t block, std::int64_t n) {
  return std::max<std::int64_t>(1, block == format::kWholeAxis ? n : std::min(block, n));
}

static std::int64_t blocks(std::int64_t n, std::int64_t extent) {
  return n / extent + (n % extent != 0 ? 1 : 0);
}

std::array<std::int64_t, 2> gridOf(const kernels::OperandFormat& format, std::int64_t rows,
                                   std::int64_t depth) {
  return {blocks(rows, extent(format.across, rows)), blocks(depth, extent(format.along, depth))};
}

std::array<std::int64_t, 2> gridOf(const kernels::ScaledView& matrix) {
  return {blocks(matrix.rows, matrix.across), blocks(matrix.depth, matrix.along)};
}

/// The view of a matrix whose codes and scales begin at these addresses.
static kernels::ScaledView matrixAt(const std::uint8_t* elements, const void* scales,
                                    int scaleBytes, float outer,
                                    const kernels::OperandFormat& format, std::int64_t rows,
                                    std::int64_t depth) {
  return {.element = format.element,
          .scale = format.scale,
          .rows = rows,
          .depth = depth,
          .across = extent(format.across, rows),
          .along = extent(format.along, depth),
          .elements = elements,
          .scales = scales,
          .scaleBytes = scaleBytes,
          .outer = outer};
}

kernels::ScaledView firstMatrix(const Worker& worker, const PartSlots& slots,
                                const kernels::OperandFormat& format, std::int64_t rows,
                                std::int64_t depth) {
  return matrixAt(worker.at<const std::uint8_t>(slots.elements), worker.at(slots.scales),
                  format.scale->bytes(), slots.outerScale(worker), format, rows, depth);
}

kernels::ScaledView firstMatrix(const numerics::ScaledTensor& tensor,
                                const kernels::OperandFormat& format, std::int64_t rows,
                                std::int64_t depth) {
  return matrixAt(tensor.elements.data(), tensor.scales.data(), sizeof(tensor.scales.front()),
                  tensor.outer, format, rows, depth);
}

/// The view moved by `elements` elements and `rowsOfBlocks` rows of blocks.
static kernels::ScaledView farther(kernels::ScaledView matrix, std::int64_t elements,
                                   std::int64_t rowsOfBlocks) {
  matrix.elements += elements;
  matrix.scales = static_cast<const std::byte*>(matrix.scales) +
                  rowsOfBlocks * gridOf(matrix)[1] * matrix.scaleBytes;
  return matrix;
}

RowRange rowsForGroup(const kernels::ProductPlan& plan, const RowRange& ofGroup,
                      const RowRange& range) {
  constexpr std::int64_t kFewOfTiles = 4;
  const bool areTiles =
      plan.floats && plan.floatDot == kernels::FloatDot::Bf16Pairs && kernels::usesTiles(plan.isa);
  return atLeast((areTiles ? kFewOfTiles : plan.mostFewRows) + 1, ofGroup, range);
}

Matrices::Range Matrices::of(const Frame& frame, RowRange range, BatchExtent rows) const {
  const std::int64_t all = rows.of(frame);
  if (isOne()) {
    const RowRange own = range.of(all);
    return {0, 1, own.begin, own.size()};
  }
  const RowRange own = range.of(count.of(frame));
  return {own.begin, own.size(), 0, all};
}

kernels::ScaledView Matrices::at(kernels::ScaledView first, std::int64_t i) const {
  return farther(first, i * first.rows * first.depth, shareScales ? 0 : i * gridOf(first)[0]);
}

Outcome PackPartsStep::compute(const Frame& frame, Worker& worker, RowRange range,
                               const kernels::Execution& execution) const {
  const auto now = plan.of(frame.items);
  if (!now)
    return failure(*this, now.error());
  const kernels::ScaledView first =
      firstMatrix(worker, from, now->left, rows.of(frame), now->depth);
  // A block is one row high or spans all rows, so `begin` starts a block or keeps the single scale.
  const auto pack = [&](const kernels::ScaledView& matrix, std::int64_t begin, std::int64_t count,
                        kernels::PackedOperand& target) {
    kernels::ScaledView part = farther(matrix, begin * now->depth, begin / first.across);
    part.rows = count;
    part.across = extent(first.across, count);
    target = kernels::pack(part, kernels::Side::Left, *now, execution, std::move(target));
  };
  if (groups) {
    const std::span<kernels::PackedOperand> target = worker.lefts(packed, groups->count);
    const RowRange own = range.of(first.rows);
    groups->forEach(frame, own, [&](std::int64_t group, std::int64_t begin, std::int64_t end) {
      if (group == groups->count)
        return;
      const RowRange all = rowsForGroup(*now, {begin, end, own.count}, own);
      pack(first, all.begin, all.size(), target[static_cast<std::size_t>(group)]);
    });
    return {};
  }
  const Matrices::Range own = matrices.of(frame, range, rows);
  const std::span<kernels::PackedOperand> target = worker.lefts(packed, own.count);
  for (std::int64_t i = 0; i < own.count; ++i)
    pack(matrices.at(first, own.first + i), own.begin, own.rows,
         target[static_cast<std::size_t>(i)]);
  return {};
}

StepFacts PackPartsStep::facts() const {
  const kernels::OperandFormat left = plan.left(1);
  const std::int64_t depth = plan.depth.of(1);
  return {.kind = StepFacts::Kind::Pack,
          .detail = formatName(left, depth),
          .operations = 0,
          .bytes = 2 * bytesOf(left, (groups ? 1 : matrices.count.of(1)) * rows.of(1), depth)};
}

} // namespace octavo::program
