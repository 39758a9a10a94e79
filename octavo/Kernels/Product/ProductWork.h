// The work of one product of a batch, divided into tasks. Neither the division nor the threads that
// run the tasks change an order of additions.
#pragma once

#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductEpilogue.h"
#include "octavo/Kernels/ThreadMemory.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

namespace octavo::kernels {

/// A product in progress. Its memory is the thread's (ThreadMemory.h).
class ProductWork {
public:
  virtual ~ProductWork() = default;
  static void* operator new(std::size_t bytes) { return takeThreadMemory(bytes); }
  static void operator delete(void* work, std::size_t bytes) {
    giveBackThreadMemory(static_cast<std::byte*>(work), bytes);
  }
  std::int64_t tasks() const { return taskCount; }
  /// Computes a part of C and runs its epilogue. Tasks run in any order, on any thread.
  virtual void run(std::int64_t task) const = 0;

protected:
  std::int64_t taskCount = 0;
};

/// Whether a product is large enough for several threads: 2^20 multiply-adds, some 10 us of one
/// thread, take longer than starting threads.
inline bool isWorthThreads(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  constexpr std::int64_t kLeast = std::int64_t{1} << 20;
  return rows * columns >= kLeast / std::max<std::int64_t>(1, depth);
}

/// Copies columns of a row of C. Most often they are a panel's 64 bytes, which are copied inline: a
/// call would take longer.
inline void copyColumns(const float* from, std::int64_t columns, float* to) {
  if (columns == kPanelColumns)
    std::memcpy(to, from, kPanelColumns * sizeof(float));
  else
    std::copy_n(from, columns, to);
}

/// Panels of a task of a product of few rows; a product is not divided into fewer panels.
inline constexpr std::int64_t kDirectPanels = 4;

/// Rows of a task, a multiple of `tileRows`: the rows are divided about evenly into the fewest
/// tasks of about `most` rows.
inline std::int64_t rowsOfTask(std::int64_t rows, std::int64_t most, std::int64_t tileRows) {
  const std::int64_t tasks = std::max<std::int64_t>(1, (rows + most - 1) / most);
  const std::int64_t tiles = std::max<std::int64_t>(1, (rows + tileRows - 1) / tileRows);
  return (tiles + tasks - 1) / tasks * tileRows;
}

/// Panels of a task if the rows are divided into `rowTasks` tasks: at most `most`, about evenly. If
/// there are few row tasks, the number of tasks is about a multiple of `threads`: two threads would
/// take as long for three tasks as for four.
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

/// Whether a product of `rows` f32 rows reads them where they lie (Storage::Rows) and expands the
/// right operand to f32 once for all of them. Fewer rows are faster with the right operand as it is
/// stored.
bool takesRows(const ProductPlan& plan, std::int64_t rows);
/// The work of any two operands: integerWork, floatWork, or the expansion to f32.
std::unique_ptr<ProductWork> productWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue,
                                         const Execution& execution);

} // namespace octavo::kernels
