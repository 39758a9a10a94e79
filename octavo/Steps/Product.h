// Products of matrices by the kernels. What is multiplied again at each run is packed once.
#pragma once

#include "octavo/Kernels/Product/PlainProduct.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Numerics/QuantizeOptions.h"
#include "octavo/Steps/Step.h"

#include <mutex>

namespace octavo::steps {

/// Something that is made of a value, kept until another value takes its place.
template <typename T> class MadeOnce {
public:
  template <typename Make> std::shared_ptr<const T> of(const Value& value, Make make) const {
    const std::lock_guard lock(making);
    if (!made || !from.isSameAs(value)) {
      made = std::make_shared<const T>(make());
      from = value;
    }
    return made;
  }

private:
  mutable std::mutex making;
  mutable Value from; ///< held, so that no other value has its place
  mutable std::shared_ptr<const T> made;
};

/// Products of f32, [rows, depth] * [columns, depth]^T each; the result is row-major.
class MatrixProductStep : public Step {
public:
  struct Side {
    Slot slot;
    std::int64_t offset, stride, depthStride;
  };
  MatrixProductStep(mlir::Operation* op, Side left, Side right, Slot result, std::int64_t rows,
                    std::int64_t depth, std::int64_t columns,
                    std::vector<kernels::BatchOffsets> batch)
      : Step(op), left(left), right(right), result(result), rows(rows), depth(depth),
        columns(columns), batch(std::move(batch)) {}
  llvm::Error run(Frame& frame) const override;
  StepFacts facts() const override;

private:
  Side left, right;
  Slot result;
  std::int64_t rows, depth, columns;
  std::vector<kernels::BatchOffsets> batch;
  MadeOnce<kernels::PackedMatrix> packed;
};

/// Activations packed for products with scaled weights, quantized where the plan's left side is.
class PackStep : public Step {
public:
  PackStep(mlir::Operation* op, kernels::ProductPlan plan,
           std::optional<numerics::QuantizeOptions> options, Slot from, std::size_t size,
           int packed)
      : Step(op), plan(std::move(plan)), options(std::move(options)), from(from), size(size),
        packed(packed) {}
  llvm::Error run(Frame& frame) const override;
  StepFacts facts() const override;

private:
  kernels::ProductPlan plan;
  std::optional<numerics::QuantizeOptions> options;
  Slot from;
  std::size_t size;
  int packed; ///< in Frame::packed
};

class ScaledProductStep : public Step {
public:
  /// `weight` is among the values.
  ScaledProductStep(mlir::Operation* op, kernels::ProductPlan plan, int packed, int weight,
                    Slot result, std::int64_t rows, std::int64_t columns)
      : Step(op), plan(std::move(plan)), packed(packed), weight(weight), result(result), rows(rows),
        columns(columns) {}
  llvm::Error run(Frame& frame) const override;
  StepFacts facts() const override;

private:
  kernels::ProductPlan plan;
  int packed, weight;
  Slot result;
  std::int64_t rows, columns;
  MadeOnce<kernels::PackedOperand> packedWeight;
};

} // namespace octavo::steps
