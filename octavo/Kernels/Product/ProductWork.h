// One product of a batch under way, cut into tasks: neither the cut nor the threads that run the
// tasks change an order of additions.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductEpilogue.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace octavo::kernels {

class ProductWork {
public:
  virtual ~ProductWork() = default;
  static void* operator new(std::size_t bytes) { return takeThreadMemory(bytes); }
  static void operator delete(void* work, std::size_t bytes) {
    giveBackThreadMemory(static_cast<std::byte*>(work), bytes);
  }
  std::int64_t tasks() const { return taskCount; }
  /// Computes a part of C and finishes it. Tasks run in any order, on any thread.
  virtual void run(std::int64_t task) const = 0;

protected:
  std::int64_t taskCount = 0;
};

/// Whether a product has more multiply-adds, some 10 us of one thread, than several threads take to
/// begin.
inline bool isWorthThreads(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 20;
  return rows * columns >= kLeast / std::max<std::int64_t>(1, depth);
}

/// Some columns of a row of C, most often a panel's: 64 bytes, of which a call would take longer.
inline void copyColumns(const float* from, std::int64_t columns, float* to) {
  if (columns == kPanelColumns)
    std::memcpy(to, from, kPanelColumns * sizeof(float));
  else
    std::copy_n(from, columns, to);
}

/// Panels of one task of a product of few rows, and the fewest for which a product is cut.
inline constexpr std::int64_t kDirectPanels = 4;

/// Rows of each of the fewest tasks with at most `most` rows: about as many in each, whole tiles of
/// `tileRows`.
inline std::int64_t rowsOfTask(std::int64_t rows, std::int64_t most, std::int64_t tileRows) {
  const std::int64_t tasks = std::max<std::int64_t>(1, (rows + most - 1) / most);
  const std::int64_t tiles = std::max<std::int64_t>(1, (rows + tileRows - 1) / tileRows);
  return (tiles + tasks - 1) / tasks * tileRows;
}

/// Panels of each task where there are `rowTasks` one below the other: at most `most`, about as
/// many in each. Few tasks are a multiple of the threads: three would take two threads as long as
/// four.
inline std::int64_t panelsOfTask(std::int64_t panels, std::int64_t most, std::int64_t rowTasks,
                                 std::int64_t threads) {
  constexpr std::int64_t kManyOfThread = 4;
  const std::int64_t forThreads =
      rowTasks < kManyOfThread * threads
          ? std::min(threads / std::gcd(rowTasks, threads), panels / kDirectPanels)
          : 1;
  const std::int64_t tasks = std::max({std::int64_t{1}, (panels + most - 1) / most, forThreads});
  return std::max<std::int64_t>(1, (panels + tasks - 1) / tasks);
}

std::unique_ptr<ProductWork> integerWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue,
                                         const Execution& execution);
std::unique_ptr<ProductWork> floatWork(const ProductPlan& plan, const PackedOperand& left,
                                       const PackedOperand& right, const ProductEpilogue& epilogue,
                                       const Execution& execution);

/// Whether so many f32 rows are multiplied as they lie (Storage::Rows), the right operand expanded
/// to f32 for all of them. Fewer take less time where it is multiplied as it is stored.
bool takesRows(const ProductPlan& plan, std::int64_t rows);
/// The work of any two operands.
std::unique_ptr<ProductWork> productWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue,
                                         const Execution& execution);

} // namespace octavo::kernels
