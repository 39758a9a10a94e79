#include "octavo/Kernels/Product/IntegerPacking.h"
#include "octavo/Kernels/Product/PlainTiles.h"
#include "octavo/Kernels/Product/ProductFloat.h"
#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

namespace octavo::kernels {

bool takesRows(const ProductPlan& plan, std::int64_t rows) {
  return plan.left.scale == nullptr && rows > plan.mostFewRows &&
         (!plan.floats || plan.groupsInBlock == plan.groups);
}

namespace {

using Storage = PackedOperand::Storage;

/// Whether the right operand's values, and their products with ordinary ones, are within f32.
bool isExpandable(const ProductPlan& plan, const PackedOperand& right) {
  constexpr int kFar = 100;
  if (plan.floats)
    return right.shifts.empty();
  return !right.hasUnusualScale && right.leastExponent >= -kFar && right.greatestExponent <= kFar;
}

/// f32 rows where they lie by a scaled right operand whose panels are expanded to f32 on the way,
/// once for all rows of a task: the tiles are those of plain matrices.
class ExpandedProduct final : public ProductWork {
public:
  ExpandedProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
                  const ProductEpilogue& epilogue, const Execution& execution)
      : plan(plan), left(left), right(right), epilogue(epilogue) {
    // Rows whose chunk of K stays in L2 beside a tile's panels; so many that expanding is little.
    constexpr std::int64_t kMostRows = 384;
    rowBlocks = (left.rows + kMostRows - 1) / kMostRows;
    blockPanels =
        panelsOfTask(panels, std::max<std::int64_t>(1, panels), rowBlocks, threadsOf(execution));
    taskCount = rowBlocks * ((panels + blockPanels - 1) / blockPanels);
  }
  void run(std::int64_t task) const override;

private:
  const ProductPlan& plan;
  const PackedOperand& left;
  const PackedOperand& right;
  const ProductEpilogue& epilogue;
  const PlainKernels& tiles = plainKernels(plan.isa, PlainType::F32);
  std::int64_t columns = right.rows;
  std::int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
  std::int64_t rowBlocks, blockPanels;

  void expand(std::int64_t panel, std::int64_t firstGroup, std::int64_t groups, float* to) const;
  void multiplyFactors(const SumsBlock& block) const;
  bool isFiniteRow(std::int64_t row) const;
  void multiplyInDouble(std::int64_t row, std::int64_t column, std::int64_t width,
                        float* sums) const;
};

/// The values of some groups of K of a panel, 16 of each k.
void ExpandedProduct::expand(std::int64_t panel, std::int64_t firstGroup, std::int64_t groups,
                             float* to) const {
  if (plan.floats) {
    const FloatKernels& kernels = floatKernels(plan.isa, FloatDot::MultiplyAdds);
    const std::int64_t at = (panel * plan.groups + firstGroup) * kPanelColumns;
    return kernels.expand(floatFormat(*plan.right.element, kernels.decodesHalves),
                          reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
                              at * kGroup,
                          reinterpret_cast<const float*>(right.scales.data()) + at, kPanelColumns,
                          groups, reinterpret_cast<std::byte*>(to));
  }
  const ProductKernels& kernels = productKernels(plan.isa);
  const std::int64_t piecesInGroup = kGroup / plan.piece;
  const std::int64_t firstPiece = panel * plan.pieces + firstGroup * piecesInGroup;
  if (right.storage == Storage::Nibbles)
    return kernels.nibblesToFloats[piecesInGroup - 1][static_cast<int>(right.scaleCodes)](
        reinterpret_cast<const std::uint8_t*>(right.elements.data()) +
            firstPiece / piecesInGroup * 4 * kStepBytes,
        reinterpret_cast<const std::uint8_t*>(right.scales.data()) + firstPiece * kPanelColumns,
        groups, to);
  kernels.recordsToFloats[plan.dot == Dot::Words](
      {.records = right.elements.data() + firstPiece * kStepBytes * (plan.steps() + 1),
       .pieces = groups * piecesInGroup,
       .steps = plan.steps(),
       .offset = plan.offset,
       .quantum = std::ldexp(1.0f, plan.quantum)},
      to);
}

void ExpandedProduct::multiplyFactors(const SumsBlock& block) const {
  if (right.factors.empty())
    return;
  const float* factors = right.factors.data() + block.columnBegin;
  const std::int64_t width = block.columnEnd - block.columnBegin;
  for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row) {
    float* sums = block.at(row, block.columnBegin);
    bool areFinite = true;
    for (std::int64_t n = 0; n < width; ++n)
      areFinite &= std::fabs(sums[n]) <= std::numeric_limits<float>::max();
    if (!areFinite && isFiniteRow(row)) {
      for (std::int64_t n = 0; n < width; n += kPanelColumns)
        multiplyInDouble(row, block.columnBegin + n,
                         std::min<std::int64_t>(kPanelColumns, width - n), sums + n);
      continue;
    }
    for (std::int64_t n = 0; n < width; ++n)
      sums[n] *= factors[n];
  }
}

bool ExpandedProduct::isFiniteRow(std::int64_t row) const {
  const float* values = left.activations + row * left.activationStride;
  return std::all_of(values, values + plan.depth, [](float value) { return std::isfinite(value); });
}

/// The factors of up to a panel of a row's sums, of which those that are not finite are formed
/// anew: the factor may bring them back into f32's range.
void ExpandedProduct::multiplyInDouble(std::int64_t row, std::int64_t column, std::int64_t width,
                                       float* sums) const {
  const float* factors = right.factors.data() + column;
  double wide[kPanelColumns] = {};
  if (!std::all_of(sums, sums + width, [](float sum) { return std::isfinite(sum); })) {
    const float* values = left.activations + row * left.activationStride;
    const std::int64_t panel = column / kPanelColumns;
    float group[kGroup * kPanelColumns];
    for (std::int64_t first = 0; first < plan.depth; first += kGroup) {
      const float* weights = group;
      if (right.storage == Storage::Values)
        weights = reinterpret_cast<const float*>(right.elements.data()) +
                  (panel * plan.groups * kGroup + first) * kPanelColumns;
      else
        expand(panel, first / kGroup, 1, group);
      for (std::int64_t k = first; k < std::min(first + kGroup, plan.depth); ++k)
        for (int n = 0; n < kPanelColumns; ++n)
          wide[n] += double{values[k]} * weights[(k - first) * kPanelColumns + n];
    }
  }
  for (std::int64_t n = 0; n < width; ++n)
    sums[n] =
        std::isfinite(sums[n]) ? sums[n] * factors[n] : static_cast<float>(wide[n] * factors[n]);
}

void ExpandedProduct::run(std::int64_t task) const {
  thread_local PackedBytes memory;
  const std::int64_t rowBlock = task % rowBlocks;
  const std::int64_t panelBegin = task / rowBlocks * blockPanels;
  const SumsBlock block = epilogue.begin(
      rowBlock * left.rows / rowBlocks, (rowBlock + 1) * left.rows / rowBlocks,
      panelBegin * kPanelColumns, std::min(columns, (panelBegin + blockPanels) * kPanelColumns));
  const Part part{.rows = block.rowEnd - block.rowBegin,
                  .columns = block.columnEnd - block.columnBegin,
                  .c = block.sums,
                  .stride = block.stride};
  const std::int64_t tileRows = part.tiles(tiles.tallest);
  const int width = tiles.panels[(part.rows + tileRows - 1) / tileRows - 1];
  const std::int64_t step = (chunkOf(plan.depth, width) + kGroup - 1) / kGroup * kGroup;
  const bool isExpanded = right.storage == Storage::Values;
  const auto bytes = static_cast<std::size_t>(width * step * kStepBytes);
  if (!isExpanded && memory.size() < bytes)
    memory = PackedBytes(bytes, PackedBytes::Fill::None);
  for (std::int64_t first = 0; first < plan.depth; first += step) {
    const std::int64_t here = std::min(step, plan.depth - first);
    for (std::int64_t panel = 0; panel < part.panels(); panel += width) {
      const auto count = static_cast<int>(std::min<std::int64_t>(width, part.panels() - panel));
      const std::int64_t paddedDepth = plan.groups * kGroup;
      if (!isExpanded)
        for (int p = 0; p < count; ++p)
          expand(panelBegin + panel + p, first / kGroup, (here + kGroup - 1) / kGroup,
                 reinterpret_cast<float*>(memory.data() + p * step * kStepBytes));
      const std::byte* values =
          isExpanded
              ? right.elements.data() + ((panelBegin + panel) * paddedDepth + first) * kStepBytes
              : memory.data();
      for (std::int64_t i = 0; i < tileRows; ++i) {
        const std::int64_t row = part.firstRow(i, tileRows);
        runTile(tiles, part, row, part.firstRow(i + 1, tileRows) - row, panel, count,
                {.left = reinterpret_cast<const std::byte*>(
                     left.activations + (block.rowBegin + row) * left.activationStride + first),
                 .leftStride = left.activationStride * static_cast<std::ptrdiff_t>(sizeof(float)),
                 .right = values,
                 .rightStride = (isExpanded ? paddedDepth : step) * kStepBytes,
                 .depth = here,
                 .startFromC = first != 0});
      }
    }
  }
  multiplyFactors(block);
  epilogue.finish(block);
}

/// f32 rows packed for tiles of their own, whatever their number.
class RepackedProduct final : public ProductWork {
public:
  RepackedProduct(const ProductPlan& plan, const PackedOperand& rows, const PackedOperand& right,
                  const ProductEpilogue& epilogue, const Execution& execution) {
    ThreadVector<float> values(static_cast<std::size_t>(rows.rows * plan.depth));
    for (std::int64_t row = 0; row < rows.rows; ++row)
      std::copy_n(rows.activations + row * rows.activationStride, plan.depth,
                  values.data() + row * plan.depth);
    *left = plan.floats ? packActivations(values, plan, execution, std::move(*left))
                        : packDigits(values, plan, execution, std::move(*left));
    work = plan.floats ? floatWork(plan, *left, right, epilogue, execution)
                       : integerWork(plan, *left, right, epilogue, execution);
    taskCount = work->tasks();
  }
  void run(std::int64_t task) const override { work->run(task); }

private:
  const ThreadKept<PackedOperand> left;
  std::unique_ptr<ProductWork> work;
};

} // namespace

std::unique_ptr<ProductWork> productWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue,
                                         const Execution& execution) {
  if (left.storage == Storage::Rows) {
    if (isExpandable(plan, right))
      return std::make_unique<ExpandedProduct>(plan, left, right, epilogue, execution);
    return std::make_unique<RepackedProduct>(plan, left, right, epilogue, execution);
  }
  return plan.floats ? floatWork(plan, left, right, epilogue, execution)
                     : integerWork(plan, left, right, epilogue, execution);
}

} // namespace octavo::kernels
