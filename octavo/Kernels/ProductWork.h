// One product of a batch under way, cut into tasks: neither the cut nor the threads that run the
// tasks change an order of additions.
#pragma once

#include "octavo/Kernels/Product.h"
#include "octavo/Kernels/ProductEpilogue.h"

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

/// Panels of one task of a product of few rows.
inline constexpr std::int64_t kDirectPanels = 4;

std::unique_ptr<ProductWork> integerWork(const ProductPlan& plan, const PackedOperand& left,
                                         const PackedOperand& right,
                                         const ProductEpilogue& epilogue);
std::unique_ptr<ProductWork> floatWork(const ProductPlan& plan, const PackedOperand& left,
                                       const PackedOperand& right, const ProductEpilogue& epilogue,
                                       const Execution& execution);

} // namespace octavo::kernels
