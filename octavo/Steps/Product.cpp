#include "octavo/Steps/Product.h"

#include <span>

namespace octavo::steps {

namespace {

RightOperand& rightOf(Frame& frame, int number) {
  return frame.rights[static_cast<std::size_t>(number)];
}
const RightOperand& rightOf(const Frame& frame, int number) {
  return frame.rights[static_cast<std::size_t>(number)];
}

} // namespace

llvm::Error MatrixProductStep::prepare(Frame& frame) const {
  if (batch.size() != 1)
    return llvm::Error::success();
  const float* b = frame.at<float>(right.slot) + right.offset;
  RightOperand& operand = rightOf(frame, number);
  if (const Value* owner = frame.owners[static_cast<std::size_t>(right.slot.number)])
    operand.shared = packed.of(*owner, [&] {
      return kernels::packMatrix(b, depth, columns, right.depthStride, right.stride);
    });
  else
    operand.own = kernels::packMatrix(b, depth, columns, right.depthStride, right.stride, {},
                                      std::move(operand.own));
  return llvm::Error::success();
}

llvm::Error MatrixProductStep::compute(const Frame& frame, Worker& worker, RowRange range,
                                       const kernels::Execution& execution) const {
  const float* a = worker.at<float>(left.slot) + left.offset;
  float* c = worker.at<float>(result);
  if (batch.size() != 1) {
    const RowRange own = range.of(static_cast<std::int64_t>(batch.size()));
    kernels::multiplyBatch(a, worker.at<float>(right.slot) + right.offset, c,
                           {.rows = rows,
                            .depth = depth,
                            .columns = columns,
                            .leftStride = left.stride,
                            .rightDepthStride = right.depthStride,
                            .rightColumnStride = right.stride,
                            .cStride = columns},
                           std::span(batch).subspan(static_cast<std::size_t>(own.begin),
                                                    static_cast<std::size_t>(own.size())),
                           execution);
    return llvm::Error::success();
  }
  const RowRange own = range.of(rows);
  const RightOperand& operand = rightOf(frame, number);
  const auto& matrix = operand.shared
                           ? *static_cast<const kernels::PackedMatrix*>(operand.shared.get())
                           : operand.own;
  kernels::multiplyRows(a + own.begin * left.stride, left.stride, own.size(), matrix,
                        c + own.begin * columns, columns, execution);
  return llvm::Error::success();
}

llvm::Error PackStep::compute(const Frame& /*frame*/, Worker& worker, RowRange range,
                              const kernels::Execution& execution) const {
  const RowRange own = range.of(rows);
  const std::span values(worker.at<const float>(from) + own.begin * plan.depth,
                         static_cast<std::size_t>(own.size() * plan.depth));
  kernels::PackedOperand& target = worker.packed[static_cast<std::size_t>(packed)];
  if (!options) {
    target = kernels::pack(values, plan, execution, std::move(target));
    return llvm::Error::success();
  }
  auto quantized = kernels::quantizeAndPack(values, plan, *options, execution, std::move(target));
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

llvm::Error ScaledProductStep::prepare(Frame& frame) const {
  const Value& value = frame.values[static_cast<std::size_t>(weight)];
  rightOf(frame, number).shared = packedWeight.of(
      value, [&] { return kernels::pack(value.scaled(), kernels::Side::Right, plan); });
  return llvm::Error::success();
}

llvm::Error ScaledProductStep::compute(const Frame& frame, Worker& worker, RowRange range,
                                       const kernels::Execution& execution) const {
  const auto& right =
      *static_cast<const kernels::PackedOperand*>(rightOf(frame, number).shared.get());
  const RowRange own = range.of(rows);
  kernels::multiply(plan, worker.packed[static_cast<std::size_t>(packed)], right,
                    std::span(worker.at<float>(result) + own.begin * columns,
                              static_cast<std::size_t>(own.size() * columns)),
                    execution);
  return llvm::Error::success();
}

} // namespace octavo::steps
