#include "octavo/Kernels/Product/PlainProduct.h"

#include "octavo/Kernels/Product/PlainKernels.h"
#include "octavo/Kernels/Product/PlainPacking.h"
#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <memory>
#include <type_traits>
#include <unistd.h>

namespace octavo::kernels {

namespace portable {
extern const PlainKernels kPlainF32, kPlainBf16;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PlainKernels kPlainF32, kPlainBf16;
}
namespace avx512 {
extern const PlainKernels kPlainF32, kPlainBf16;
}
namespace avx512bf16 {
extern const PlainKernels kPlainBf16;
}
#elif defined(__aarch64__)
namespace neon {
extern const PlainKernels kPlainF32, kPlainBf16;
}
#endif

namespace {

const PlainKernels& plainKernels(Isa isa, PlainType type) {
  assert(!whyNot(isa));
  const bool isF32 = type == PlainType::F32;
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return isF32 ? avx2::kPlainF32 : avx2::kPlainBf16;
  case Isa::Avx512:
    if (!isF32 && usesBf16(isa))
      return avx512bf16::kPlainBf16;
    return isF32 ? avx512::kPlainF32 : avx512::kPlainBf16;
#elif defined(__aarch64__)
  case Isa::Neon:
    return isF32 ? neon::kPlainF32 : neon::kPlainBf16;
#endif
  default:
    return isF32 ? portable::kPlainF32 : portable::kPlainBf16;
  }
}

template <typename T>
constexpr PlainType kPlainType = std::is_same_v<T, float> ? PlainType::F32 : PlainType::Bf16;

/// A block of C: some rows, and the columns of some panels.
template <typename T> struct Block {
  const PlainKernels& kernels;
  const T* left;
  std::ptrdiff_t leftStride;
  std::int64_t rows;
  const std::byte* panels;
  std::int64_t depth, columns;
  float* c;
  std::ptrdiff_t stride;

  void multiply() const;

private:
  static constexpr int kElements = MatrixView<T>::kElements;
  /// Of K, multiplied at once.
  std::int64_t chunk(std::int64_t tiles, int width) const;
  void tile(std::int64_t row, int height, std::int64_t panel, int count, std::int64_t first,
            std::int64_t depthOfTile) const;
};

/// A tile's panels stay in L1 for all rows, where there are rows to use them again.
template <typename T> std::int64_t Block<T>::chunk(std::int64_t tiles, int width) const {
  static const long level1 = std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 32768L);
  const std::int64_t fitting = level1 / (std::int64_t{width} * kStepBytes) * kElements;
  if (tiles == 1 || depth <= fitting)
    return depth;
  const std::int64_t chunks = (depth + fitting - 1) / fitting;
  const std::int64_t even = (depth + chunks - 1) / chunks;
  return (even + kElements - 1) / kElements * kElements;
}

template <typename T>
void Block<T>::tile(std::int64_t row, int height, std::int64_t panel, int count, std::int64_t first,
                    std::int64_t depthOfTile) const {
  const std::int64_t panelBytes = (depth + kElements - 1) / kElements * kStepBytes;
  const std::int64_t width =
      std::min<std::int64_t>(count * kPanelColumns, columns - panel * kPanelColumns);
  float* const corner = c + row * stride + panel * kPanelColumns;
  PlainTileArguments arguments{
      .left = reinterpret_cast<const std::byte*>(left + row * leftStride + first),
      .leftStride = leftStride * static_cast<std::ptrdiff_t>(sizeof(T)),
      .right = panels + panel * panelBytes + first / kElements * kStepBytes,
      .rightStride = panelBytes,
      .depth = depthOfTile,
      .c = corner,
      .stride = stride,
      .startFromC = first != 0};
  PlainTile* const run = kernels.tiles[height - 1][count - 1];
  if (width == count * kPanelColumns)
    return run(arguments);
  alignas(64) float edge[kMostPlainRows * kMostPlainPanels * kPanelColumns];
  arguments.c = edge;
  arguments.stride = kMostPlainPanels * kPanelColumns;
  for (int i = 0; i < height && first != 0; ++i)
    std::copy_n(corner + i * stride, width, edge + i * arguments.stride);
  run(arguments);
  for (int i = 0; i < height; ++i)
    std::copy_n(edge + i * arguments.stride, width, corner + i * stride);
}

template <typename T> void Block<T>::multiply() const {
  // Tiles of about the same height: one of few rows is slow.
  const std::int64_t tiles = (rows + kernels.tallest - 1) / kernels.tallest;
  const int width = kernels.panels[(rows + tiles - 1) / tiles - 1];
  const std::int64_t panelCount = (columns + kPanelColumns - 1) / kPanelColumns;
  const std::int64_t step = chunk(tiles, width);
  std::int64_t first = 0;
  do { // of K = 0 too
    const std::int64_t depthOfTile = std::min(step, depth - first);
    for (std::int64_t panel = 0; panel < panelCount; panel += width) {
      const auto count = static_cast<int>(std::min<std::int64_t>(width, panelCount - panel));
      for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t row = i * rows / tiles, end = (i + 1) * rows / tiles;
        tile(row, static_cast<int>(end - row), panel, count, first, depthOfTile);
      }
    }
    first += depthOfTile;
  } while (first < depth);
}

/// Multiply-adds, some 10 us of one thread, below which several would be later.
constexpr std::int64_t kLeastSpread = std::int64_t{1} << 20;

bool isSmall(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  return rows * columns < kLeastSpread / std::max<std::int64_t>(1, depth);
}

/// How C is cut into tasks: rows first, for then a panel is read once for each range; columns where
/// there are not rows enough for all threads.
struct Cut {
  std::int64_t rowsOfTask, rowTasks, panelsOfTask, columnTasks;

  Cut(std::int64_t rows, std::int64_t panels, int tallest, std::int64_t threads) {
    // Few enough that they and their part of C stay in L2, enough for a panel to be worth reading.
    constexpr std::int64_t kMost = 96, kLeastTiles = 4, kTasksOfThread = 4;
    const std::int64_t forThreads = threads == 1 ? kMost : rows / (kTasksOfThread * threads);
    const std::int64_t most = std::clamp(forThreads, kLeastTiles * tallest, kMost);
    rowTasks = (rows + most - 1) / most;
    const std::int64_t tiles = (rows + tallest - 1) / tallest;
    rowsOfTask = (tiles + rowTasks - 1) / rowTasks * tallest;
    rowTasks = (rows + rowsOfTask - 1) / rowsOfTask;
    panelsOfTask =
        kernels::panelsOfTask(panels, std::max<std::int64_t>(1, panels), rowTasks, threads);
    columnTasks = std::max<std::int64_t>(1, (panels + panelsOfTask - 1) / panelsOfTask);
  }
};

/// Calls the finisher where the last part of a range of rows is done.
class RowsUnderWay {
public:
  RowsUnderWay(RowFinisher finisher, std::int64_t rowTasks, std::int64_t columnTasks)
      : finisher(finisher) {
    if (!finisher.finish || columnTasks == 1)
      return;
    missing = std::make_unique<std::atomic<std::int64_t>[]>(static_cast<std::size_t>(rowTasks));
    for (std::int64_t i = 0; i < rowTasks; ++i)
      missing[i] = columnTasks;
  }
  void partIsDone(std::int64_t rowTask, std::int64_t begin, std::int64_t end) const {
    if (!missing || --missing[rowTask] == 0)
      finisher(begin, end);
  }

private:
  RowFinisher finisher;
  std::unique_ptr<std::atomic<std::int64_t>[]> missing;
};

template <typename T>
PackedMatrix packed(const MatrixView<T>& matrix, const Execution& execution, PackedMatrix&& old) {
  PackedMatrix result{.type = kPlainType<T>, .depth = matrix.depth, .columns = matrix.columns};
  result.panels = PackedBytes(matrix.packedBytes(), std::move(old.panels), PackedBytes::Fill::None);
  forRanges(static_cast<std::size_t>(matrix.panels()), 4, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto panel = static_cast<std::int64_t>(begin);
                   panel < static_cast<std::int64_t>(end); ++panel)
                packPanel(matrix, panel, result.panels.data() + panel * matrix.panelBytes());
            });
  return result;
}

template <typename T>
void rowsTimes(const T* left, std::ptrdiff_t leftStride, std::int64_t rows,
               const PackedMatrix& right, float* c, std::ptrdiff_t cStride, Execution execution,
               RowFinisher finisher) {
  assert(right.type == kPlainType<T>);
  if (rows == 0)
    return;
  if (isSmall(rows, right.columns, right.depth))
    execution.threads = 1;
  const PlainKernels& kernels = plainKernels(execution.isa, right.type);
  const MatrixView<T> shape{.depth = right.depth, .columns = right.columns};
  const Cut cut(rows, shape.panels(), kernels.tallest, threadsOf(execution));
  const RowsUnderWay underWay(finisher, cut.rowTasks, cut.columnTasks);
  forRanges(static_cast<std::size_t>(cut.rowTasks * cut.columnTasks), 1, execution,
            [&](std::size_t begin, std::size_t end) {
              for (auto task = static_cast<std::int64_t>(begin);
                   task < static_cast<std::int64_t>(end); ++task) {
                const std::int64_t rowTask = task / cut.columnTasks;
                const std::int64_t row = rowTask * cut.rowsOfTask;
                const std::int64_t rowEnd = std::min(rows, row + cut.rowsOfTask);
                const std::int64_t panel = task % cut.columnTasks * cut.panelsOfTask;
                const std::int64_t column = panel * kPanelColumns;
                Block<T>{.kernels = kernels,
                         .left = left + row * leftStride,
                         .leftStride = leftStride,
                         .rows = rowEnd - row,
                         .panels = right.panels.data() + panel * shape.panelBytes(),
                         .depth = right.depth,
                         .columns =
                             std::min(cut.panelsOfTask * kPanelColumns, right.columns - column),
                         .c = c + row * cStride + column,
                         .stride = cStride}
                    .multiply();
                underWay.partIsDone(rowTask, row, rowEnd);
              }
            });
}

template <typename T>
void batchOf(const T* left, const T* right, float* c, const BatchShape& shape,
             std::span<const BatchOffsets> products, Execution execution, RowFinisher finisher) {
  if (products.empty() || shape.rows == 0)
    return;
  const auto count = static_cast<std::int64_t>(products.size());
  if (isSmall(count * shape.rows, shape.columns, shape.depth))
    execution.threads = 1;
  const PlainKernels& kernels = plainKernels(execution.isa, kPlainType<T>);
  MatrixView<T> matrix{.depth = shape.depth,
                       .columns = shape.columns,
                       .depthStride = shape.rightDepthStride,
                       .columnStride = shape.rightColumnStride};
  const std::size_t bytes = matrix.packedBytes();
  // Each range of rows packs its right operand again.
  constexpr std::int64_t kLeastTiles = 4, kTasksOfThread = 2;
  const std::int64_t threads = threadsOf(execution);
  const std::int64_t ranges =
      threads == 1
          ? 1
          : std::clamp<std::int64_t>((kTasksOfThread * threads + count - 1) / count, 1,
                                     (shape.rows - 1) / (kLeastTiles * kernels.tallest) + 1);
  const std::int64_t rowsOfRange = (shape.rows + ranges - 1) / ranges;
  forRanges(static_cast<std::size_t>(count * ranges), 1, execution,
            [&](std::size_t begin, std::size_t end) {
              // Taken away meanwhile: a finisher may multiply a batch too.
              thread_local PackedBytes memory;
              PackedBytes panels = std::move(memory);
              if (panels.size() < bytes)
                panels = PackedBytes(bytes, PackedBytes::Fill::None);
              MatrixView<T> view = matrix;
              std::int64_t packedProduct = -1;
              for (auto task = static_cast<std::int64_t>(begin);
                   task < static_cast<std::int64_t>(end); ++task) {
                const std::int64_t product = task / ranges, row = task % ranges * rowsOfRange;
                const std::int64_t rows = std::min(rowsOfRange, shape.rows - row);
                if (rows <= 0)
                  continue;
                const BatchOffsets& at = products[static_cast<std::size_t>(product)];
                if (product != packedProduct) {
                  view.values = right + at.right;
                  for (std::int64_t panel = 0; panel < view.panels(); ++panel)
                    packPanel(view, panel, panels.data() + panel * view.panelBytes());
                  packedProduct = product;
                }
                Block<T>{.kernels = kernels,
                         .left = left + at.left + row * shape.leftStride,
                         .leftStride = shape.leftStride,
                         .rows = rows,
                         .panels = panels.data(),
                         .depth = shape.depth,
                         .columns = shape.columns,
                         .c = c + at.c + row * shape.cStride,
                         .stride = shape.cStride}
                    .multiply();
                finisher(product * shape.rows + row, product * shape.rows + row + rows);
              }
              memory = std::move(panels);
            });
}

} // namespace

PackedMatrix packMatrix(const float* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution, PackedMatrix&& old) {
  return packed<float>({values, depth, columns, depthStride, columnStride}, execution,
                       std::move(old));
}

PackedMatrix packMatrix(const std::uint16_t* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution, PackedMatrix&& old) {
  return packed<std::uint16_t>({values, depth, columns, depthStride, columnStride}, execution,
                               std::move(old));
}

void multiplyRows(const float* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, float* c, std::ptrdiff_t cStride,
                  const Execution& execution, RowFinisher finisher) {
  rowsTimes(left, leftStride, rows, right, c, cStride, execution, finisher);
}

void multiplyRows(const std::uint16_t* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, float* c, std::ptrdiff_t cStride,
                  const Execution& execution, RowFinisher finisher) {
  rowsTimes(left, leftStride, rows, right, c, cStride, execution, finisher);
}

void multiplyBatch(const float* left, const float* right, float* c, const BatchShape& shape,
                   std::span<const BatchOffsets> products, const Execution& execution,
                   RowFinisher finisher) {
  batchOf(left, right, c, shape, products, execution, finisher);
}

void multiplyBatch(const std::uint16_t* left, const std::uint16_t* right, float* c,
                   const BatchShape& shape, std::span<const BatchOffsets> products,
                   const Execution& execution, RowFinisher finisher) {
  batchOf(left, right, c, shape, products, execution, finisher);
}

} // namespace octavo::kernels
