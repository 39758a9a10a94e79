#include "octavo/Kernels/Product/PlainProduct.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/Product/PlainPacking.h"
#include "octavo/Kernels/Product/PlainTiles.h"
#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Kernels/Product/ProductWork.h"

#include <algorithm>
#include <atomic>
#include <cassert>
#include <cstring>
#include <memory>
#include <type_traits>
#include <unistd.h>
#include <vector>

namespace octavo::kernels {

namespace portable {
extern const PlainKernels kPlainF32, kPlainBf16, kPlainInt8;
}
#if defined(__x86_64__)
namespace avx2 {
extern const PlainKernels kPlainF32, kPlainBf16, kPlainInt8;
}
#if !defined(OCTAVO_WITHOUT_AVX512)
namespace avx512 {
extern const PlainKernels kPlainF32, kPlainBf16, kPlainInt8;
}
namespace avx512bf16 {
extern const PlainKernels kPlainBf16;
}
namespace avx512tiles {
extern const PlainKernels kPlainBf16;
}
#endif
#elif defined(__aarch64__)
namespace neon {
extern const PlainKernels kPlainF32, kPlainBf16, kPlainInt8;
}
#endif

const PlainKernels& plainKernels(Isa isa, PlainType type) {
  assert(!whyNot(isa));
  const auto chosen = [&](const PlainKernels& ofF32, const PlainKernels& ofBf16,
                          const PlainKernels& ofInt8) -> const PlainKernels& {
    return type == PlainType::F32 ? ofF32 : type == PlainType::Bf16 ? ofBf16 : ofInt8;
  };
  switch (isa) {
#if defined(__x86_64__)
  case Isa::Avx2:
    return chosen(avx2::kPlainF32, avx2::kPlainBf16, avx2::kPlainInt8);
#if !defined(OCTAVO_WITHOUT_AVX512)
  case Isa::Avx512:
    return chosen(avx512::kPlainF32,
                  usesTiles(isa)  ? avx512tiles::kPlainBf16
                  : usesBf16(isa) ? avx512bf16::kPlainBf16
                                  : avx512::kPlainBf16,
                  avx512::kPlainInt8);
#endif
#elif defined(__aarch64__)
  case Isa::Neon:
    return chosen(neon::kPlainF32, neon::kPlainBf16, neon::kPlainInt8);
#endif
  default:
    return chosen(portable::kPlainF32, portable::kPlainBf16, portable::kPlainInt8);
  }
}

namespace {

template <typename T>
constexpr PlainType kPlainType = std::is_same_v<T, float>         ? PlainType::F32
                                 : std::is_same_v<T, std::int8_t> ? PlainType::Int8
                                                                  : PlainType::Bf16;

} // namespace

std::int64_t chunkOf(std::int64_t depth, int width, std::int64_t unit) {
  // Each chunk reads and writes C again, and contiguous data in L2 arrives as fast as it is
  // multiplied: chunks of half the length were 2 to 5 % slower in f32, 4 to 16 % in bf16.
  static const long bytes = 2 * std::max(sysconf(_SC_LEVEL1_DCACHE_SIZE), 32768L);
  const std::int64_t fitting = bytes / (std::int64_t{width} * kStepBytes);
  const std::int64_t chunks = std::max<std::int64_t>(1, (depth + fitting - 1) / fitting);
  return ((depth + chunks - 1) / chunks + unit - 1) / unit * unit;
}

void runTile(const PlainKernels& kernels, const Part& part, std::int64_t row, std::int64_t height,
             std::int64_t panel, int count, PlainTileArguments arguments) {
  const std::int64_t width =
      std::min<std::int64_t>(count * kPanelColumns, part.columns - panel * kPanelColumns);
  float* const corner = part.c + row * part.stride + panel * kPanelColumns;
  PlainTile* const run = (arguments.beginnings != nullptr ? kernels.pieced
                          : arguments.rightStep == 0 ? kernels.tiles
                                                     : kernels.unpacked)[height - 1][count - 1];
  arguments.rows = height;
  arguments.c = corner;
  arguments.stride = part.stride;
  if (width == count * kPanelColumns)
    return run(arguments);
  alignas(64) float edge[kMostPlainRows * kMostPlainPanels * kPanelColumns];
  arguments.c = edge;
  arguments.stride = kMostPlainPanels * kPanelColumns;
  const auto bytes = static_cast<std::size_t>(width) * sizeof(float); // or of int32
  for (std::int64_t i = 0; i < height && arguments.startFromC; ++i)
    std::memcpy(edge + i * arguments.stride, corner + i * part.stride, bytes);
  run(arguments);
  for (std::int64_t i = 0; i < height; ++i)
    std::memcpy(corner + i * part.stride, edge + i * arguments.stride, bytes);
}

namespace {

/// Multiplies both operands as they lie.
template <typename T>
void multiplyPart(const PlainKernels& kernels, const Part& part, const T* left,
                  std::ptrdiff_t leftStride, const std::byte* panels, std::int64_t depth) {
  constexpr int kElements = MatrixView<T>::kElements;
  const std::int64_t panelBytes = (depth + kElements - 1) / kElements * kStepBytes;
  const std::int64_t tiles = part.tiles(kernels.tallest);
  const int width = kernels.panels[(part.rows + tiles - 1) / tiles - 1];
  // One tile reads a panel once.
  const std::int64_t step =
      tiles == 1 ? depth
                 : chunkOf((depth + kElements - 1) / kElements, width,
                           std::max<std::int64_t>(1, kernels.depthUnit / kElements)) *
                       kElements;
  const bool isBegun = part.isBegun || kernels.columnOffset != 0;
  std::int64_t first = 0;
  do { // once even for K = 0
    const std::int64_t here = std::min(step, depth - first);
    for (std::int64_t panel = 0; panel < part.panels(); panel += width) {
      const auto count = static_cast<int>(std::min<std::int64_t>(width, part.panels() - panel));
      // With few rows, reading a matrix from memory takes as long as multiplying it. A single tile
      // prefetches its own next steps; of several tiles, the first two prefetch half of the next
      // panel each. Tiles of several panels read several streams at once and gain nothing.
      constexpr std::int64_t kAhead = 4096;
      const std::byte* const chunk = panels + panel * panelBytes + first / kElements * kStepBytes;
      const std::byte* const ahead = chunk + (tiles == 1 ? kAhead : panelBytes);
      const std::ptrdiff_t aheadStep = count > 1 ? 0 : tiles == 1 ? kStepBytes : kStepBytes / 2;
      for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t row = part.firstRow(i, tiles);
        runTile(kernels, part, row, part.firstRow(i + 1, tiles) - row, panel, count,
                {.left = reinterpret_cast<const std::byte*>(left + row * leftStride + first),
                 .leftStride = leftStride * static_cast<std::ptrdiff_t>(sizeof(T)),
                 .right = chunk,
                 .rightStride = panelBytes,
                 .depth = here,
                 .startFromC = first != 0 || isBegun,
                 .ahead = i == 0 ? ahead : ahead + here / kElements / 2 * kStepBytes,
                 .aheadStep = i < 2 ? aheadStep : 0});
      }
    }
    first += here;
  } while (first < depth);
}

/// Widens both operands to f32, a chunk of K at a time, and multiplies them.
void multiplyWidened(const PlainKernels& kernels, const PlainKernels& ofBf16, const Part& part,
                     const std::uint16_t* left, std::ptrdiff_t leftStride, const std::byte* panels,
                     std::int64_t depth) {
  thread_local PackedBytes memory;
  const std::int64_t steps = (depth + 1) / 2, tiles = part.tiles(kernels.tallest);
  const int width = kernels.panels[(part.rows + tiles - 1) / tiles - 1];
  const std::int64_t step = chunkOf(depth, width, kernels.depthUnit),
                     panelFloats = step * kPanelColumns;
  const auto bytes =
      static_cast<std::size_t>(width * panelFloats + part.rows * step) * sizeof(float);
  if (memory.size() < bytes)
    memory = PackedBytes(bytes, PackedBytes::Fill::None);
  auto* const widePanels = reinterpret_cast<float*>(memory.data());
  float* const rows = widePanels + width * panelFloats;
  for (std::int64_t first = 0; first < depth; first += step) {
    const std::int64_t here = std::min(step, depth - first);
    for (std::int64_t row = 0; row < part.rows; ++row)
      ofBf16.widenRow(left + row * leftStride + first, here, rows + row * step);
    for (std::int64_t panel = 0; panel < part.panels(); panel += width) {
      const auto count = static_cast<int>(std::min<std::int64_t>(width, part.panels() - panel));
      for (int p = 0; p < count; ++p)
        ofBf16.widenPanel(panels + ((panel + p) * steps + first / 2) * kStepBytes, (here + 1) / 2,
                          widePanels + p * panelFloats);
      for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t row = part.firstRow(i, tiles);
        runTile(kernels, part, row, part.firstRow(i + 1, tiles) - row, panel, count,
                {.left = reinterpret_cast<const std::byte*>(rows + row * step),
                 .leftStride = step * 4,
                 .right = reinterpret_cast<const std::byte*>(widePanels),
                 .rightStride = panelFloats * 4,
                 .depth = here,
                 .startFromC = first != 0 || part.isBegun});
      }
    }
  }
}

void multiply(Isa isa, const Part& part, const float* left, std::ptrdiff_t leftStride,
              const std::byte* panels, std::int64_t depth) {
  multiplyPart(plainKernels(isa, PlainType::F32), part, left, leftStride, panels, depth);
}
void multiply(Isa isa, const Part& part, const std::uint16_t* left, std::ptrdiff_t leftStride,
              const std::byte* panels, std::int64_t depth) {
  const PlainKernels& kernels = plainKernels(isa, PlainType::Bf16);
  // From this many rows on, widening a panel once is less work than widening it for each tile.
  constexpr std::int64_t kLeastWidened = 8;
  if (kernels.widenRow && depth > 0 && part.rows >= kLeastWidened)
    multiplyWidened(plainKernels(isa, PlainType::F32), kernels, part, left, leftStride, panels,
                    depth);
  else
    multiplyPart(kernels, part, left, leftStride, panels, depth);
}

void multiply(Isa isa, const Part& part, const std::int8_t* left, std::ptrdiff_t leftStride,
              const std::byte* panels, std::int64_t depth) {
  const PlainKernels& kernels = plainKernels(isa, PlainType::Int8);
  for (std::int64_t row = 0; row < part.rows && kernels.columnOffset != 0; ++row) {
    std::int32_t sum = 0;
    for (std::int64_t k = 0; k < depth; ++k)
      sum += left[row * leftStride + k];
    auto* const c = reinterpret_cast<std::int32_t*>(part.c + row * part.stride);
    std::fill_n(c, part.columns,
                static_cast<std::int32_t>(0U - static_cast<std::uint32_t>(kernels.columnOffset) *
                                                   static_cast<std::uint32_t>(sum)));
  }
  multiplyPart(kernels, part, left, leftStride, panels, depth);
}

/// Multiplies few enough rows for one tile. Each panel is read once, where it lies or packed just
/// before, so that it is in the nearest cache when it is multiplied. `memory` has room for the
/// panels of a tile.
template <typename T>
void multiplyFewRows(Isa isa, const Part& part, const T* left, std::ptrdiff_t leftStride,
                     const MatrixView<T>& right, std::byte* memory) {
  const PlainKernels& kernels = plainKernels(isa, kPlainType<T>);
  const int width = kernels.panels[part.rows - 1];
  const bool isReadInPlace = kernels.unpacked[part.rows - 1][0] != nullptr &&
                             right.columnStride == 1 && right.depthStride > 0;
  std::int64_t panel = 0;
  while (panel < part.panels()) {
    const std::int64_t column = panel * kPanelColumns;
    const std::int64_t whole = (part.columns - column) / kPanelColumns;
    const bool isInPlace = isReadInPlace && whole > 0;
    const auto count =
        static_cast<int>(std::min<std::int64_t>(width, isInPlace ? whole : part.panels() - panel));
    if (isInPlace) {
      runTile(kernels, part, 0, part.rows, panel, count,
              {.left = reinterpret_cast<const std::byte*>(left),
               .leftStride = leftStride * static_cast<std::ptrdiff_t>(sizeof(T)),
               .right = reinterpret_cast<const std::byte*>(right.values + column),
               .rightStride = kStepBytes,
               .rightStep = right.depthStride * static_cast<std::ptrdiff_t>(sizeof(T)),
               .depth = right.depth,
               .startFromC = part.isBegun});
    } else {
      packPanels(right, panel, panel + count, memory, right.panelBytes());
      multiply(isa,
               {.rows = part.rows,
                .columns = std::min<std::int64_t>(count * kPanelColumns, part.columns - column),
                .c = part.c + column,
                .stride = part.stride,
                .isBegun = part.isBegun},
               left, leftStride, memory, right.depth);
    }
    panel += count;
  }
}

/// A right operand whose rows, along K or along the columns, a RowMaker produces during the
/// product. A piece of rows at a time is made in the thread's memory and then packed or multiplied.
template <typename T> class MadeMatrix {
public:
  /// A piece begins at a panel or at a step of K. Its rows and their packed copy fit L1, but a
  /// piece of columns has at least `panels` panels.
  MadeMatrix(const MatrixView<T>& whole, RowMaker maker, int panels, std::int64_t depthUnit)
      : whole(whole), maker(maker), isOfDepth(whole.depthStride != 1),
        rows(isOfDepth ? whole.depth : whole.columns),
        elements(isOfDepth ? whole.columns : whole.depth),
        apart((isOfDepth ? whole.depthStride : whole.columnStride) /
              std::max<std::int64_t>(1, elements)) {
    constexpr std::int64_t kBytes = 16384;
    const std::int64_t unit = isOfDepth ? depthUnit : std::int64_t{panels} * kPanelColumns;
    const std::int64_t fitting =
        kBytes / std::max<std::int64_t>(1, elements * static_cast<std::int64_t>(sizeof(T)));
    step = std::max<std::int64_t>(1, fitting / unit) * unit;
  }
  /// The number of the row at `offset`, where a matrix begins.
  std::int64_t rowOf(std::ptrdiff_t offset) const {
    return offset / std::max<std::int64_t>(1, elements);
  }
  std::size_t bytesOfPiece() const { return static_cast<std::size_t>(step * elements) * sizeof(T); }

  /// Multiplies few enough rows for one tile.
  void multiplyFewRows(Isa isa, const Part& part, const T* left, std::ptrdiff_t leftStride,
                       std::int64_t firstRow, std::byte* piece, std::byte* panels) const {
    forPieces(firstRow, piece, [&](std::int64_t begin, const MatrixView<T>& view) {
      Part of = part;
      if (isOfDepth)
        of.isBegun = begin != 0;
      else
        of.c += begin, of.columns = view.columns;
      kernels::multiplyFewRows(isa, of, left + (isOfDepth ? begin : 0), leftStride, view, panels);
    });
  }

  void pack(std::int64_t firstRow, std::byte* piece, std::byte* panels) const {
    forPieces(firstRow, piece, [&](std::int64_t begin, const MatrixView<T>& view) {
      std::byte* const to = panels + (isOfDepth ? begin / MatrixView<T>::kElements * kStepBytes
                                                : begin / kPanelColumns * whole.panelBytes());
      packPanels(view, 0, view.panels(), to, whole.panelBytes());
    });
  }

private:
  template <typename F> void forPieces(std::int64_t firstRow, std::byte* piece, F f) const {
    MatrixView<T> view = whole;
    view.values = reinterpret_cast<const T*>(piece);
    (isOfDepth ? view.depthStride : view.columnStride) = elements;
    for (std::int64_t begin = 0; begin < rows; begin += step) {
      const std::int64_t count = std::min(step, rows - begin);
      if (apart == 1)
        maker(firstRow + begin, firstRow + begin + count, piece);
      else
        for (std::int64_t row = 0; row < count; ++row)
          maker(firstRow + (begin + row) * apart, firstRow + (begin + row) * apart + 1,
                piece + static_cast<std::size_t>(row * elements) * sizeof(T));
      (isOfDepth ? view.depth : view.columns) = count;
      f(begin, view);
    }
  }

  MatrixView<T> whole;
  RowMaker maker;
  bool isOfDepth;
  std::int64_t rows, elements;
  std::int64_t apart; ///< difference between the numbers of consecutive rows
  std::int64_t step;
};

/// The division of C into tasks: by rows first, so that a panel is read once for each range; also
/// by columns if there are not enough rows for all threads.
struct Cut {
  std::int64_t rowsOfTask, rowTasks, panelsOfTask, columnTasks;

  Cut(std::int64_t rows, std::int64_t panels, int tallest, std::int64_t threads) {
    // Few enough rows that they and their part of C stay in L2; enough to pay for reading a panel.
    constexpr std::int64_t kMost = 96, kLeastTiles = 4, kTasksOfThread = 4;
    const std::int64_t forThreads = threads == 1 ? kMost : rows / (kTasksOfThread * threads);
    const std::int64_t most = std::clamp(forThreads, kLeastTiles * tallest, kMost);
    rowsOfTask = kernels::rowsOfTask(rows, most, tallest);
    rowTasks = (rows + rowsOfTask - 1) / rowsOfTask;
    panelsOfTask =
        kernels::panelsOfTask(panels, std::max<std::int64_t>(1, panels), rowTasks, threads);
    columnTasks = std::max<std::int64_t>(1, (panels + panelsOfTask - 1) / panelsOfTask);
  }
};

/// Calls the finisher when the last part of a range of rows is done.
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
              const auto first = static_cast<std::int64_t>(begin);
              packPanels(matrix, first, static_cast<std::int64_t>(end),
                         result.panels.data() + first * matrix.panelBytes(), matrix.panelBytes());
            });
  return result;
}

template <typename T>
std::optional<PackedMatrix>
packedInPieces(MatrixView<T> matrix,
               const std::function<const void*(std::int64_t first, std::int64_t count)>& read) {
  PackedMatrix result{.type = kPlainType<T>, .depth = matrix.depth, .columns = matrix.columns};
  result.panels = PackedBytes(matrix.packedBytes(), PackedBytes::Fill::None);
  if (matrix.depth == 0 || matrix.columns == 0)
    return result;
  // Pieces are cut along the axis with the larger stride: whole steps of K, or whole panels.
  const bool isOfDepth = matrix.depthStride >= matrix.columnStride;
  const std::ptrdiff_t stride = isOfDepth ? matrix.depthStride : matrix.columnStride;
  const std::int64_t extent = isOfDepth ? matrix.depth : matrix.columns;
  const std::int64_t unit = isOfDepth ? MatrixView<T>::kElements : kPanelColumns;
  const std::int64_t bytesOfUnit =
      std::max<std::int64_t>(1, unit * stride * static_cast<std::int64_t>(sizeof(T)));
  const std::int64_t step = std::max<std::int64_t>(1, kPieceBytes / bytesOfUnit) * unit;
  const std::int64_t panelBytes = matrix.panelBytes();
  for (std::int64_t begin = 0; begin < extent; begin += step) {
    MatrixView<T> piece = matrix;
    (isOfDepth ? piece.depth : piece.columns) = std::min(step, extent - begin);
    const void* values = read(begin * stride, 1 + (piece.depth - 1) * piece.depthStride +
                                                  (piece.columns - 1) * piece.columnStride);
    if (values == nullptr)
      return std::nullopt;
    piece.values = static_cast<const T*>(values);
    std::byte* to = result.panels.data() +
                    (isOfDepth ? begin / unit * kStepBytes : begin / kPanelColumns * panelBytes);
    packPanels(piece, 0, piece.panels(), to, panelBytes);
  }
  return result;
}

template <typename T>
void rowsTimes(const T* left, std::ptrdiff_t leftStride, std::int64_t rows,
               const PackedMatrix& right, float* c, std::ptrdiff_t cStride, Execution execution,
               RowFinisher finisher) {
  assert(right.type == kPlainType<T>);
  if (rows == 0)
    return;
  if (!isWorthThreads(rows, right.columns, right.depth))
    execution.threads = 1;
  const int tallest = plainKernels(execution.isa, right.type).tallest;
  const MatrixView<T> shape{.depth = right.depth, .columns = right.columns};
  const Cut cut(rows, shape.panels(), tallest, threadsOf(execution));
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
                multiply(
                    execution.isa,
                    {.rows = rowEnd - row,
                     .columns = std::min(cut.panelsOfTask * kPanelColumns, right.columns - column),
                     .c = c + row * cStride + column,
                     .stride = cStride},
                    left + row * leftStride, leftStride,
                    right.panels.data() + panel * shape.panelBytes(), right.depth);
                underWay.partIsDone(rowTask, row, rowEnd);
              }
            });
}

/// Prefetches a matrix while another is multiplied. Its rows are short and apart, so the hardware
/// does not predict the next row. A larger matrix would evict the operands in use.
template <typename T> void prefetch(const MatrixView<T>& matrix) {
  constexpr std::int64_t kLine = 64 / sizeof(T), kMostBytes = 32768;
  const bool isAlongDepth = matrix.depthStride == 1;
  const std::int64_t length = isAlongDepth ? matrix.depth : matrix.columns;
  const std::int64_t rows = isAlongDepth ? matrix.columns : matrix.depth;
  const std::ptrdiff_t apart = isAlongDepth ? matrix.columnStride : matrix.depthStride;
  if (rows == 0 || length > kMostBytes / static_cast<std::int64_t>(sizeof(T)) / rows)
    return;
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < length; i += kLine)
      __builtin_prefetch(matrix.values + row * apart + i, 0, 2);
}

template <typename T>
void batchOf(const T* left, const T* right, float* c, const BatchShape& shape,
             std::span<const BatchOffsets> products, Execution execution, RowFinisher finisher,
             RowMaker maker = {}) {
  if (products.empty() || shape.rows == 0)
    return;
  const auto count = static_cast<std::int64_t>(products.size());
  if (!isWorthThreads(count * shape.rows, shape.columns, shape.depth))
    execution.threads = 1;
  const PlainKernels& kernels = plainKernels(execution.isa, kPlainType<T>);
  const int tallest = kernels.tallest;
  MatrixView<T> matrix{.depth = shape.depth,
                       .columns = shape.columns,
                       .depthStride = shape.rightDepthStride,
                       .columnStride = shape.rightColumnStride};
  const bool isFewRows = shape.rows <= tallest;
  const std::size_t bytes =
      isFewRows ? MatrixView<T>{.depth = shape.depth, .columns = kMostPlainPanels * kPanelColumns}
                      .packedBytes()
                : matrix.packedBytes();
  const MadeMatrix<T> made(matrix, maker, isFewRows ? kernels.panels[shape.rows - 1] : 1,
                           kernels.depthUnit);
  const std::size_t allBytes = bytes + (maker.make ? made.bytesOfPiece() : 0);
  // Each range of rows packs its right operand again, or makes it again, which takes longer.
  constexpr std::int64_t kTasksOfThread = 2;
  const std::int64_t leastTiles = maker.make ? 16 : 4;
  const std::int64_t threads = threadsOf(execution);
  const std::int64_t ranges =
      threads == 1 ? 1
                   : std::clamp<std::int64_t>((kTasksOfThread * threads + count - 1) / count, 1,
                                              (shape.rows - 1) / (leastTiles * tallest) + 1);
  const std::int64_t rowsOfRange = (shape.rows + ranges - 1) / ranges;
  forRanges(
      static_cast<std::size_t>(count * ranges), 1, execution,
      [&](std::size_t begin, std::size_t end) {
        // Moved out while in use: a finisher may itself call multiplyBatch on this thread.
        thread_local PackedBytes memory;
        PackedBytes panels = std::move(memory);
        if (panels.size() < allBytes)
          panels = PackedBytes(allBytes, PackedBytes::Fill::None);
        std::byte* const piece = panels.data() + bytes;
        MatrixView<T> view = matrix;
        std::int64_t packedProduct = -1;
        for (auto task = static_cast<std::int64_t>(begin); task < static_cast<std::int64_t>(end);
             ++task) {
          const std::int64_t product = task / ranges, row = task % ranges * rowsOfRange;
          const std::int64_t rows = std::min(rowsOfRange, shape.rows - row);
          if (rows <= 0)
            continue;
          const BatchOffsets& at = products[static_cast<std::size_t>(product)];
          view.values = maker.make ? nullptr : right + at.right;
          if (!isFewRows && product != packedProduct) {
            if (maker.make)
              made.pack(made.rowOf(at.right), piece, panels.data());
            else
              packPanels(view, 0, view.panels(), panels.data(), view.panelBytes());
            packedProduct = product;
            if (!maker.make && task + ranges < static_cast<std::int64_t>(end)) {
              const BatchOffsets& next = products[static_cast<std::size_t>(product + 1)];
              view.values = right + next.right;
              prefetch(view);
              prefetch(MatrixView<T>{.values = left + next.left,
                                     .depth = shape.depth,
                                     .columns = shape.rows,
                                     .depthStride = 1,
                                     .columnStride = shape.leftStride});
            }
          }
          const Part part{.rows = rows,
                          .columns = shape.columns,
                          .c = c + at.c + row * shape.cStride,
                          .stride = shape.cStride};
          const T* const rowsOfLeft = left + at.left + row * shape.leftStride;
          if (isFewRows && maker.make)
            made.multiplyFewRows(execution.isa, part, rowsOfLeft, shape.leftStride,
                                 made.rowOf(at.right), piece, panels.data());
          else if (isFewRows)
            multiplyFewRows(execution.isa, part, rowsOfLeft, shape.leftStride, view, panels.data());
          else
            multiply(execution.isa, part, rowsOfLeft, shape.leftStride, panels.data(), shape.depth);
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

PackedMatrix packMatrix(const std::int8_t* values, std::int64_t depth, std::int64_t columns,
                        std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                        const Execution& execution, PackedMatrix&& old) {
  return packed<std::int8_t>({values, depth, columns, depthStride, columnStride}, execution,
                             std::move(old));
}

std::optional<PackedMatrix>
packMatrixInPieces(PlainType type, std::int64_t depth, std::int64_t columns,
                   std::ptrdiff_t depthStride, std::ptrdiff_t columnStride,
                   const std::function<const void*(std::int64_t first, std::int64_t count)>& read) {
  if (type == PlainType::F32)
    return packedInPieces<float>({nullptr, depth, columns, depthStride, columnStride}, read);
  if (type == PlainType::Int8)
    return packedInPieces<std::int8_t>({nullptr, depth, columns, depthStride, columnStride}, read);
  return packedInPieces<std::uint16_t>({nullptr, depth, columns, depthStride, columnStride}, read);
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

void multiplyRows(const std::int8_t* left, std::ptrdiff_t leftStride, std::int64_t rows,
                  const PackedMatrix& right, std::int32_t* c, std::ptrdiff_t cStride,
                  const Execution& execution, RowFinisher finisher) {
  rowsTimes(left, leftStride, rows, right, reinterpret_cast<float*>(c), cStride, execution,
            finisher);
}

void multiplyPieces(const PiecedRows& left, std::int64_t rows, const PackedMatrix& right, float* c,
                    std::ptrdiff_t cStride, Isa isa) {
  assert(right.type == PlainType::F32);
  if (rows == 0)
    return;
  const PlainKernels& kernels = plainKernels(isa, PlainType::F32);
  const Part part{.rows = rows, .columns = right.columns, .c = c, .stride = cStride};
  const std::int64_t panelBytes = right.depth * kStepBytes, tiles = part.tiles(kernels.tallest);
  const int width = kernels.panels[(rows + tiles - 1) / tiles - 1];
  const std::int64_t step = tiles == 1 ? right.depth : chunkOf(right.depth, width);
  thread_local std::vector<PlainPiece> pieces; // of a chunk of K
  std::size_t piece = 0;
  std::int64_t begun = 0, first = 0; // of the piece
  do {                               // of K = 0 too
    const std::int64_t here = std::min(step, right.depth - first);
    pieces.clear();
    for (std::int64_t rest = here; rest > 0;) {
      const std::int64_t count = std::min(rest, left.lengths[piece] - begun);
      pieces.push_back({.beginning = static_cast<std::int64_t>(piece),
                        .offset = begun * static_cast<std::int64_t>(sizeof(float)),
                        .steps = count});
      rest -= count;
      begun += count;
      if (begun == left.lengths[piece]) {
        ++piece;
        begun = 0;
      }
    }
    for (std::int64_t panel = 0; panel < part.panels(); panel += width) {
      const auto count = static_cast<int>(std::min<std::int64_t>(width, part.panels() - panel));
      for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t row = part.firstRow(i, tiles);
        runTile(kernels, part, row, part.firstRow(i + 1, tiles) - row, panel, count,
                {.right = right.panels.data() + panel * panelBytes + first * kStepBytes,
                 .rightStride = panelBytes,
                 .startFromC = first != 0,
                 .beginnings = reinterpret_cast<const std::byte* const*>(left.beginnings + row),
                 .beginningStride = rows,
                 .pieces = pieces.data(),
                 .pieceCount = static_cast<std::int64_t>(pieces.size())});
      }
    }
    first += here;
  } while (first < right.depth);
}

void multiplyBatch(const float* left, const float* right, float* c, const BatchShape& shape,
                   std::span<const BatchOffsets> products, const Execution& execution,
                   RowFinisher finisher, RowMaker maker) {
  batchOf(left, right, c, shape, products, execution, finisher, maker);
}

void multiplyBatch(const std::uint16_t* left, const std::uint16_t* right, float* c,
                   const BatchShape& shape, std::span<const BatchOffsets> products,
                   const Execution& execution, RowFinisher finisher, RowMaker maker) {
  batchOf(left, right, c, shape, products, execution, finisher, maker);
}

void multiplyBatch(const std::int8_t* left, const std::int8_t* right, std::int32_t* c,
                   const BatchShape& shape, std::span<const BatchOffsets> products,
                   const Execution& execution, RowFinisher finisher) {
  batchOf(left, right, reinterpret_cast<float*>(c), shape, products, execution, finisher);
}

} // namespace octavo::kernels
