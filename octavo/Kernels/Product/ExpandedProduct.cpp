#include "octavo/Kernels/Product/DoubleProduct.h"
#include "octavo/Kernels/Product/PackedValues.h"
#include "octavo/Kernels/Product/PlainTiles.h"
#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>

namespace octavo::kernels {

bool takesRows(const ProductPlan& plan, std::int64_t rows) {
  return plan.left.scale == nullptr && rows > plan.mostFewRows &&
         (!plan.floats || plan.groupsInBlock == plan.groups);
}

namespace {

using Storage = PackedOperand::Storage;

/// A product of f32 rows, read where they lie, and a scaled right operand. Its panels are expanded
/// to f32 once for all rows of a task, and multiplied by the tiles of plain matrices.
class ExpandedProduct final : public ProductWork {
public:
  ExpandedProduct(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
                  const ProductEpilogue& epilogue, const Execution& execution)
      : plan(plan), left(left), right(right), epilogue(epilogue) {
    // Few enough rows that their chunk of K stays in L2 with a tile's panels; enough rows that the
    // cost of expanding is small.
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
  const DoubleProduct inDouble{plan, left, right, epilogue.outerScales()};
  std::int64_t columns = right.rows;
  std::int64_t panels = (columns + kPanelColumns - 1) / kPanelColumns;
  std::int64_t rowBlocks, blockPanels;

  void multiplyFactors(const SumsBlock& block) const;
};

void ExpandedProduct::multiplyFactors(const SumsBlock& block) const {
  if (right.factors.empty())
    return;
  const float* factors = right.factors.data() + block.columnBegin;
  const std::int64_t width = block.columnEnd - block.columnBegin;
  for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row) {
    float* sums = block.at(row, block.columnBegin);
    for (std::int64_t n = 0; n < width; ++n)
      sums[n] *= factors[n];
  }
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
          expandPanel(plan, right, panelBegin + panel + p, first / kGroup,
                      (here + kGroup - 1) / kGroup,
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
  epilogue.finish(block, inDouble.redo(block, epilogue));
}

} // namespace

std::unique_ptr<ProductWork> productWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue,
                                         const Execution& execution) {
  if (left.storage == Storage::Rows)
    return std::make_unique<ExpandedProduct>(plan, left, right, epilogue, execution);
  return plan.floats ? floatWork(plan, left, right, epilogue, execution)
                     : integerWork(plan, left, right, epilogue, execution);
}

} // namespace octavo::kernels
