// One product of a batch under way, cut into tasks: neither the cut nor the threads that run the
// tasks change an order of additions.
#pragma once

#include "octavo/Kernels/Product.h"
#include "octavo/Kernels/ProductEpilogue.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace octavo::kernels {

class ProductWork {
public:
  virtual ~ProductWork() = default;
  std::int64_t tasks() const { return taskCount; }
  /// Computes a part of C and finishes it. Tasks run in any order, on any thread.
  virtual void run(std::int64_t task) const = 0;

protected:
  std::int64_t taskCount = 0;
};

/// Some columns of a row of C, most often a panel's: 64 bytes, of which a call would take longer.
inline void copyColumns(const float* from, std::int64_t columns, float* to) {
  if (columns == kPanelColumns)
    std::memcpy(to, from, kPanelColumns * sizeof(float));
  else
    std::copy_n(from, columns, to);
}

/// Panels of one task of a product of few rows.
inline constexpr std::int64_t kDirectPanels = 4;

std::unique_ptr<ProductWork> integerWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue);
std::unique_ptr<ProductWork> floatWork(const ProductPlan& plan, const PackedOperand& left,
                                       const PackedOperand& right, const ProductEpilogue& epilogue,
                                       const Execution& execution);

} // namespace octavo::kernels
