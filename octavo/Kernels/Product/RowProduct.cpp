#include "octavo/Kernels/Product/RowProduct.h"

#include "octavo/Kernels/Amax.h"
#include "octavo/Kernels/Product/ProductWork.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Kernels/Widen.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

namespace octavo::kernels {

namespace {

/// A thread's buffers for a panel of rows, reused for the next panel.
struct PanelMemory {
  PackedBytes rows, codes, scales;
  PackedOperand left{};
};

std::byte* reserve(PackedBytes& bytes, std::int64_t size) {
  if (bytes.size() < static_cast<std::size_t>(size))
    bytes = PackedBytes(static_cast<std::size_t>(size), PackedBytes::Fill::None);
  return bytes.data();
}

/// The division of rows into panels.
struct Panels {
  std::int64_t rows, rowsOfPanel, count;

  /// Each panel begins at a multiple of `unit`.
  Panels(std::int64_t rows, std::int64_t unit, const ProductPlan& plan, std::int64_t threads)
      : rows(rows) {
    // Enough rows to pay for decoding the right operand for each panel, which takes longer for
    // floats; few enough to stay in L2.
    constexpr std::int64_t kLeast = 48, kTasksOfThread = 2;
    const std::int64_t greatest = plan.floats ? 384 : 192;
    const std::int64_t forThreads = threads == 1 ? greatest : rows / (kTasksOfThread * threads);
    const std::int64_t most = std::clamp(forThreads, kLeast, greatest);
    count = (rows + most - 1) / most;
    rowsOfPanel = ((rows + count - 1) / count + unit - 1) / unit * unit;
    count = (rows + rowsOfPanel - 1) / rowsOfPanel;
    // Few rows have another order of sums, so no panel may have few rows if the product has many.
    if (count > 1 && rows - (count - 1) * rowsOfPanel <= plan.mostFewRows)
      --count;
  }
  std::int64_t begin(std::int64_t panel) const { return panel * rowsOfPanel; }
  std::int64_t end(std::int64_t panel) const {
    return panel + 1 == count ? rows : begin(panel + 1);
  }
};

template <typename T> class RowProduct {
public:
  RowProduct(const ProductPlan& plan, const T* left, std::ptrdiff_t leftStride, std::int64_t rows,
             const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options, const Execution& execution,
             RowFinisher finisher)
      : plan(plan), left(left), leftStride(leftStride), rows(rows), right(right), c(c),
        cStride(cStride), options(options), execution(execution), finisher(finisher) {
    if (!isWorthThreads(rows, right.rows, plan.depth))
      this->execution.threads = 1;
    if (quantizes())
      // Only scales that are not powers of two have an outer scale (NVFP4).
      type = {format().element,
              format().scale,
              {1, extent(format().along, plan.depth)},
              format().scale->name == "e4m3fn"};
  }

  tl::expected<void, numerics::NonFiniteInput> run() {
    const std::int64_t threads = threadsOf(execution);
    const std::int64_t across = quantizes() ? extent(format().across, rows) : 1;
    const bool isOneBlock = across == rows && extent(format().along, plan.depth) == plan.depth;
    const bool hasScaleOfTensor = quantizes() && (type.hasOuterScale || (across > 1 && isOneBlock));
    const bool needsAmax =
        hasScaleOfTensor && numerics::needsWholeTensor(options, type.hasOuterScale);
    const Panels panels(rows, isOneBlock ? 1 : across, plan, threads);
    if (panels.count < std::max<std::int64_t>(2, threads))
      return whole();
    if (needsAmax) {
      tensorAmax = amaxOfRows();
      // The quantization of all rows then decides which blocks count.
      if (!std::isfinite(*tensorAmax))
        return whole();
    }
    forRanges(static_cast<std::size_t>(panels.count), 1, execution,
              [&](std::size_t begin, std::size_t end) {
                for (auto i = static_cast<std::int64_t>(begin); i < static_cast<std::int64_t>(end);
                     ++i)
                  panel(panels.begin(i), panels.end(i), {.isa = plan.isa, .threads = 1});
              });
    return outcome();
  }

private:
  const OperandFormat& format() const { return plan.left; }
  bool quantizes() const { return plan.left.scale != nullptr; }
  static std::int64_t extent(std::int64_t block, std::int64_t n) {
    return std::max<std::int64_t>(1, block == format::kWholeAxis ? n : std::min(block, n));
  }

  /// Multiplies all rows as one panel; threads divide its columns.
  tl::expected<void, numerics::NonFiniteInput> whole() {
    tensorAmax.reset();
    panel(0, rows, execution);
    return outcome();
  }

  tl::expected<void, numerics::NonFiniteInput> outcome() const {
    if (refused)
      return tl::unexpected(*refused);
    return {};
  }

  float amaxOfRows() {
    SharedMaximum greatest;
    forRanges(
        static_cast<std::size_t>(rows), 16, execution, [&](std::size_t begin, std::size_t end) {
          constexpr WideType kType = std::is_same_v<T, float> ? WideType::F32 : WideType::Bf16;
          for (std::size_t row = begin; row < end; ++row)
            greatest.raise(std::bit_cast<std::uint32_t>(
                amax(kType, left + static_cast<std::ptrdiff_t>(row) * leftStride,
                     static_cast<std::size_t>(plan.depth), {plan.isa, 1})));
        });
    return std::bit_cast<float>(greatest.get());
  }

  /// Rows from `begin` on as contiguous f32.
  const float* contiguous(std::int64_t begin, std::int64_t count, PackedBytes& memory) const {
    const T* first = left + begin * leftStride;
    if constexpr (std::is_same_v<T, float>)
      if (leftStride == plan.depth)
        return first;
    auto* to = reinterpret_cast<float*>(
        reserve(memory, count * plan.depth * static_cast<std::int64_t>(sizeof(float))));
    for (std::int64_t row = 0; row < count; ++row)
      if constexpr (std::is_same_v<T, float>)
        std::copy_n(first + row * leftStride, plan.depth, to + row * plan.depth);
      else
        widen(WideType::Bf16, first + row * leftStride, to + row * plan.depth,
              static_cast<std::size_t>(plan.depth));
    return to;
  }

  void panel(std::int64_t begin, std::int64_t end, const Execution& threads) {
    {
      const std::lock_guard lock(refusing);
      if (refused && refused->index < begin * plan.depth)
        return;
    }
    thread_local PanelMemory kept;
    // Moved out while in use: a thread that waits for others may begin another product.
    PanelMemory memory = std::move(kept);
    if (pack(begin, end, threads, memory)) {
      SharedMaximum ignored;
      const Epilogue epilogue;
      const ProductEpilogue sums(epilogue, plan.isa, c + begin * cStride, 0, end - begin, cStride,
                                 {memory.left.outer, right.outer}, ignored);
      const auto work = productWork(plan, memory.left, right, sums, threads);
      forRanges(static_cast<std::size_t>(work->tasks()), 1, threads,
                [&](std::size_t first, std::size_t last) {
                  for (std::size_t task = first; task < last; ++task)
                    work->run(static_cast<std::int64_t>(task));
                });
    } else {
      begin = end;
    }
    kept = std::move(memory);
    if (begin < end && finisher.finish)
      forRanges(static_cast<std::size_t>(end - begin), 8, threads,
                [&](std::size_t first, std::size_t last) {
                  finisher(begin + static_cast<std::int64_t>(first),
                           begin + static_cast<std::int64_t>(last));
                });
  }

  /// Packs rows to memory.left. Returns false if a value was refused.
  bool pack(std::int64_t begin, std::int64_t end, const Execution& threads, PanelMemory& memory) {
    const std::int64_t count = end - begin;
    if constexpr (std::is_same_v<T, float>)
      if (takesRows(plan, rows)) {
        memory.left = PackedOperand{.side = Side::Left, .storage = PackedOperand::Storage::Rows};
        memory.left.rows = count;
        memory.left.activations = left + begin * leftStride;
        memory.left.activationStride = leftStride;
        return true;
      }
    const float* values = contiguous(begin, count, memory.rows);
    const auto size = static_cast<std::size_t>(count * plan.depth);
    if (!quantizes()) {
      memory.left =
          packWhereTheyLie(std::span(values, size), plan, threads, std::move(memory.left));
      return true;
    }
    ScaledType ofPanel = type;
    ofPanel.block[0] = extent(format().across, count);
    const std::int64_t shape[] = {count, plan.depth};
    const auto grid = format::scaleShape(shape, ofPanel.block);
    const auto scaleBytes = static_cast<int>(ofPanel.scale->bytes());
    auto* codes = reinterpret_cast<std::uint8_t*>(reserve(memory.codes, count * plan.depth));
    std::byte* scales = reserve(memory.scales, grid[0] * grid[1] * scaleBytes);
    const QuantizeReport report =
        tensorAmax
            ? quantizePiece(values, shape, ofPanel, options, *tensorAmax, codes, scales, threads)
            : quantize(values, shape, ofPanel, options, codes, scales, {}, threads);
    if (report.refused) {
      const std::lock_guard lock(refusing);
      const std::int64_t index = begin * plan.depth + report.refused->index;
      if (!refused || index < refused->index)
        refused = {.index = index, .value = report.refused->value};
      return false;
    }
    memory.left = kernels::pack(ScaledView{.element = format().element,
                                           .scale = format().scale,
                                           .rows = count,
                                           .depth = plan.depth,
                                           .across = ofPanel.block[0],
                                           .along = ofPanel.block[1],
                                           .elements = codes,
                                           .scales = scales,
                                           .scaleBytes = scaleBytes,
                                           .outer = report.outer},
                                Side::Left, plan, threads, std::move(memory.left));
    return true;
  }

  const ProductPlan& plan;
  const T* left;
  std::ptrdiff_t leftStride;
  std::int64_t rows;
  const PackedOperand& right;
  float* c;
  std::ptrdiff_t cStride;
  const numerics::QuantizeOptions& options;
  Execution execution;
  RowFinisher finisher;
  ScaledType type;
  std::optional<float> tensorAmax; ///< decides the outer scale, or the tensor's only scale
  std::mutex refusing;
  std::optional<numerics::NonFiniteInput> refused; ///< the first refused value so far
};

} // namespace

template <typename T>
static tl::expected<void, numerics::NonFiniteInput>
rowProduct(const ProductPlan& plan, const T* left, std::ptrdiff_t leftStride, std::int64_t rows,
           const PackedOperand& right, float* c, std::ptrdiff_t cStride,
           const numerics::QuantizeOptions& options, const Execution& execution,
           RowFinisher finisher) {
  assert(execution.isa == plan.isa && right.side == Side::Right);
  if (rows == 0)
    return {};
  return RowProduct<T>(plan, left, leftStride, rows, right, c, cStride, options, execution,
                       finisher)
      .run();
}

tl::expected<void, numerics::NonFiniteInput>
multiplyRows(const ProductPlan& plan, const float* left, std::ptrdiff_t leftStride,
             std::int64_t rows, const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options, const Execution& execution,
             RowFinisher finisher) {
  return rowProduct(plan, left, leftStride, rows, right, c, cStride, options, execution, finisher);
}

tl::expected<void, numerics::NonFiniteInput>
multiplyRows(const ProductPlan& plan, const std::uint16_t* left, std::ptrdiff_t leftStride,
             std::int64_t rows, const PackedOperand& right, float* c, std::ptrdiff_t cStride,
             const numerics::QuantizeOptions& options, const Execution& execution,
             RowFinisher finisher) {
  return rowProduct(plan, left, leftStride, rows, right, c, cStride, options, execution, finisher);
}

} // namespace octavo::kernels
