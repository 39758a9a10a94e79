#include "octavo/Steps/Product.h"

#include <limits>

namespace octavo::steps {

llvm::Error MatrixProductStep::run(Frame& frame) const {
  const float* a = frame.at<float>(left.slot) + left.offset;
  const float* b = frame.at<float>(right.slot) + right.offset;
  float* c = frame.at<float>(result);
  if (batch.size() != 1) {
    kernels::multiplyBatch(a, b, c,
                           {.rows = rows,
                            .depth = depth,
                            .columns = columns,
                            .leftStride = left.stride,
                            .rightDepthStride = right.depthStride,
                            .rightColumnStride = right.stride,
                            .cStride = columns},
                           batch);
    return llvm::Error::success();
  }
  const auto pack = [&] {
    return kernels::packMatrix(b, depth, columns, right.depthStride, right.stride);
  };
  const Value* owner = frame.owners[static_cast<std::size_t>(right.slot.number)];
  if (owner != nullptr)
    kernels::multiplyRows(a, left.stride, rows, *packed.of(*owner, pack), c, columns);
  else
    kernels::multiplyRows(a, left.stride, rows, pack(), c, columns);
  return llvm::Error::success();
}

llvm::Error PackStep::run(Frame& frame) const {
  const std::span<const float> values(frame.at<const float>(from), size);
  kernels::PackedOperand& target = frame.packed[static_cast<std::size_t>(packed)];
  if (!options) {
    target = kernels::pack(values, plan, {}, std::move(target));
    return llvm::Error::success();
  }
  auto quantized = kernels::quantizeAndPack(values, plan, *options, {}, std::move(target));
  if (!quantized) {
    const float value = quantized.error().value;
    return failure(
        *this,
        llvm::Twine("the input has ") +
            (value != value ? "NaN"
             : value > 0    ? "Inf"
                            : "-Inf") +
            "; non_finite = propagate makes its block NaN, non_finite = saturate takes Inf for the "
            "largest value");
  }
  target = std::move(*quantized);
  return llvm::Error::success();
}

llvm::Error ScaledProductStep::run(Frame& frame) const {
  const Value& value = frame.values[static_cast<std::size_t>(weight)];
  const auto right = packedWeight.of(
      value, [&] { return kernels::pack(value.scaled(), kernels::Side::Right, plan); });
  kernels::multiply(plan, frame.packed[static_cast<std::size_t>(packed)], *right,
                    std::span(frame.at<float>(result), size));
  return llvm::Error::success();
}

} // namespace octavo::steps
