#include "octavo/Kernels/Product/PackedOperand.h"

#include "octavo/Kernels/BlockLayout.h"
#include "octavo/Kernels/Product/IntegerPacking.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductFloat.h"
#include "octavo/Kernels/Product/ProductWork.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <new>
#include <span>
#include <sys/mman.h>

namespace octavo::kernels {

PackedBytes::PackedBytes(std::size_t size, PackedBytes&& old, Fill fill) : count(size), room(size) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20, kLine = 64;
  // A prefetching load past the end of the last record may read some bytes, but never uses them.
  const std::size_t rounded = (size + 64 + kLine - 1) / kLine * kLine;
  if (old.bytes && old.room >= size && !old.bytes.get_deleter().lender) {
    bytes = std::move(old.bytes);
    room = old.room;
    if (fill == Fill::Zero)
      std::memset(bytes.get(), 0, rounded);
    return;
  }
  void* memory = nullptr;
  if (posix_memalign(&memory, size < kHugePage ? kLine : kHugePage, rounded) != 0)
    throw std::bad_alloc();
  bytes.reset(static_cast<std::byte*>(memory));
#if defined(MADV_HUGEPAGE)
  // The rest below a huge page has small pages: a huge page would make 2 MiB resident for it.
  if (size >= kHugePage)
    madvise(memory, size / kHugePage * kHugePage,
            MADV_HUGEPAGE); // a hint that the system may refuse
#endif
  if (fill == Fill::Zero)
    std::memset(bytes.get(), 0, rounded);
}

PackedOperand emptied(PackedOperand&& old, Side side, PackedOperand::Storage storage) {
  PackedOperand packed{.side = side,
                       .storage = storage,
                       .elements = std::move(old.elements),
                       .scales = std::move(old.scales),
                       .factors = std::move(old.factors),
                       .far = std::move(old.far),
                       .copiedActivations = std::move(old.copiedActivations)};
  packed.elements.clear();
  packed.scales.clear();
  packed.factors.clear();
  packed.far.clear();
  return packed;
}

const std::array<float, 256>& decodedValues(const ElementFormat& element) {
  static const auto tables = [] {
    std::array<std::array<float, 256>, format::kElementFormats.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i)
      for (std::uint32_t code = 0; code < 256 && format::kElementFormats[i].isNarrow(); ++code)
        made[i][code] = static_cast<float>(numerics::decode(format::kElementFormats[i], code));
    return made;
  }();
  return tables[static_cast<std::size_t>(&element - format::kElementFormats.data())];
}

Tiling::Tile Tiling::tileOf(std::int64_t row) const {
  std::int64_t first = row / tallest * tallest;
  std::int64_t rest = rows - first;
  if (rest >= tallest)
    return {first, tallest};
  for (int height : kTileHeights)
    if (height < tallest && height <= rest) {
      if (row < first + height)
        return {first, height};
      first += height;
      rest -= height;
    }
  assert(false && "row is below rows");
  return {first, 1};
}

ScaledView viewOf(const numerics::ScaledTensor& matrix) {
  assert(matrix.shape.size() == 2);
  return {.element = matrix.type.element,
          .scale = matrix.type.scale,
          .rows = matrix.shape[0],
          .depth = matrix.shape[1],
          .across = matrix.type.block[0],
          .along = matrix.type.block[1],
          .elements = matrix.elements.data(),
          .scales = matrix.scales.data(),
          .scaleBytes = 4,
          .outer = matrix.outer};
}

PackedOperand pack(const numerics::ScaledTensor& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution, PackedOperand&& old) {
  return pack(viewOf(matrix), side, plan, execution, std::move(old));
}

PackedOperand pack(const ScaledView& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution, PackedOperand&& old) {
  [[maybe_unused]] const OperandFormat& format = side == Side::Left ? plan.left : plan.right;
  assert(matrix.depth == plan.depth && matrix.element == format.element &&
         matrix.scale == format.scale);
  if (plan.floats)
    return packFloats(matrix, side, plan, execution, std::move(old));
  return side == Side::Left ? packLeftIntegers(matrix, plan, execution, std::move(old))
                            : packRightIntegers(matrix, plan, execution, std::move(old));
}

tl::expected<PackedOperand, numerics::NonFiniteInput>
quantizeAndPack(std::span<const float> activations, const ProductPlan& plan,
                const numerics::QuantizeOptions& options, const Execution& execution,
                PackedOperand&& old) {
  const OperandFormat& format = plan.left;
  assert(format.scale != nullptr && plan.depth > 0);
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  assert(rows * plan.depth == static_cast<std::int64_t>(activations.size()));
  auto extent = [](std::int64_t block, std::int64_t n) {
    return std::max<std::int64_t>(1, block == format::kWholeAxis ? n : std::min(block, n));
  };
  const std::int64_t shape[] = {rows, plan.depth};
  const ThreadKept<numerics::ScaledType> type;
  type->element = format.element;
  type->scale = format.scale;
  type->block.assign({extent(format.across, rows), extent(format.along, plan.depth)});
  // Only scales that are not powers of two have an outer scale (NVFP4).
  type->hasOuterScale = format.scale->name == "e4m3fn";
  const auto scaleBytes = static_cast<int>(format.scale->bytes());
  ThreadVector<std::uint8_t> codes(activations.size());
  ThreadVector<std::byte> scales(
      static_cast<std::size_t>(blocksOf(shape, type->block) * scaleBytes));
  const QuantizeReport report = quantize(activations.data(), shape, *type, options, codes.data(),
                                         scales.data(), {}, execution);
  if (report.refused)
    return tl::unexpected(*report.refused);
  return pack(ScaledView{.element = format.element,
                         .scale = format.scale,
                         .rows = rows,
                         .depth = plan.depth,
                         .across = type->block[0],
                         .along = type->block[1],
                         .elements = codes.data(),
                         .scales = scales.data(),
                         .scaleBytes = scaleBytes,
                         .outer = report.outer},
              Side::Left, plan, execution, std::move(old));
}

/// An operand that owns a copy of its f32 rows.
static void copyActivations(std::span<const float> activations, const Execution& execution,
                            PackedOperand& packed) {
  packed.copiedActivations = PackedBytes(
      activations.size_bytes(), std::move(packed.copiedActivations), PackedBytes::Fill::None);
  auto* to = reinterpret_cast<float*>(packed.copiedActivations.data());
  constexpr std::size_t kGrain = std::size_t{1} << 16;
  forRanges(activations.size(), kGrain, execution, [&](std::size_t begin, std::size_t end) {
    std::copy(activations.begin() + static_cast<std::ptrdiff_t>(begin),
              activations.begin() + static_cast<std::ptrdiff_t>(end), to + begin);
  });
  packed.activations = to;
}

PackedOperand packWhereTheyLie(std::span<const float> activations, const ProductPlan& plan,
                               const Execution& execution, PackedOperand&& old) {
  assert(plan.left.scale == nullptr && plan.depth > 0);
  const std::int64_t rows = static_cast<std::int64_t>(activations.size()) / plan.depth;
  PackedOperand packed =
      takesRows(plan, rows) ? emptied(std::move(old), Side::Left, PackedOperand::Storage::Rows)
      : plan.floats         ? packActivations(activations, plan, execution, std::move(old))
                            : packDigits(activations, plan, execution, std::move(old));
  packed.rows = rows;
  packed.activations = activations.data();
  packed.activationStride = plan.depth;
  return packed;
}

PackedOperand pack(std::span<const float> activations, const ProductPlan& plan,
                   const Execution& execution, PackedOperand&& old) {
  PackedOperand packed = packWhereTheyLie(activations, plan, execution, std::move(old));
  copyActivations(activations, execution, packed);
  return packed;
}

void keepFarRows(const ScaledView& matrix, std::span<const std::uint8_t> isFar,
                 PackedOperand& packed) {
  const auto& elements = decodedValues(*matrix.element);
  const std::int64_t grid = matrix.depth / matrix.along + (matrix.depth % matrix.along != 0);
  for (std::int64_t row = 0; row < matrix.rows; ++row) {
    if (isFar[static_cast<std::size_t>(row)] == 0)
      continue;
    packed.far.rows.push_back(row);
    for (std::int64_t k = 0; k < matrix.depth; ++k) {
      const std::int64_t at = row / matrix.across * grid + k / matrix.along;
      const std::uint32_t code = matrix.scaleBytes == 1
                                     ? static_cast<const std::uint8_t*>(matrix.scales)[at]
                                     : static_cast<const std::uint32_t*>(matrix.scales)[at];
      packed.far.values.push_back(elements[matrix.elements[row * matrix.depth + k]] *
                                  numerics::decode(*matrix.scale, code));
    }
  }
}

} // namespace octavo::kernels
