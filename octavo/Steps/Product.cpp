#include "octavo/Steps/Product.h"

#include <fmt/format.h>

#include <algorithm>

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
                    std::span(frame.at<float>(result), static_cast<std::size_t>(rows * columns)));
  return llvm::Error::success();
}

StepFacts MatrixProductStep::facts() const {
  const auto count = static_cast<double>(batch.size());
  const auto m = static_cast<double>(rows), k = static_cast<double>(depth),
             n = static_cast<double>(columns);
  StepFacts facts{.kind = StepFacts::Kind::Product,
                  .detail = batch.size() == 1 ? "f32 x f32" : "f32 x f32, in batches",
                  .bytes = sizeof(float) * count * (m * k + k * n + m * n),
                  .arithmetic = 2 * count * m * k * n};
  if (batch.size() == 1)
    facts.weight = {.slot = right.slot.number, .bytes = sizeof(float) * k * n};
  return facts;
}

namespace {

/// The scaled format of an operand, or what it is made of.
std::string formatName(const kernels::OperandFormat& operand, std::int64_t depth) {
  if (operand.scale == nullptr)
    return std::string(operand.element->name);
  for (const format::ScaledFormat& row : format::kScaledFormats)
    if (row.element == operand.element && row.scale == operand.scale &&
        row.across == operand.across &&
        (row.along == format::kWholeAxis ? depth : row.along) == operand.along)
      return std::string(row.rowName());
  return fmt::format("{} by {} [{}, {}]", operand.element->name, operand.scale->name,
                     operand.across, operand.along);
}

/// Bytes of rows of an operand, codes and scales.
double bytesOf(const kernels::OperandFormat& operand, std::int64_t rows, std::int64_t depth) {
  const auto count = static_cast<double>(rows) * static_cast<double>(depth);
  double bits = operand.element->width();
  if (operand.scale != nullptr)
    bits += static_cast<double>(operand.scale->width()) /
            static_cast<double>(std::max<std::int64_t>(1, operand.across * operand.along));
  return count * bits / 8;
}

std::string_view arithmeticName(const kernels::ProductPlan& plan) {
  if (!plan.floats)
    return "integers";
  return plan.floatDot == kernels::FloatDot::Bf16Pairs ? "bf16" : "f32";
}

} // namespace

StepFacts PackStep::facts() const {
  const auto count = static_cast<std::int64_t>(size);
  return {.kind = StepFacts::Kind::Pack,
          .detail = formatName(plan.left, plan.depth),
          .operations = options ? 1 : 0,
          .bytes = sizeof(float) * static_cast<double>(size) +
                   bytesOf(plan.left, count / plan.depth, plan.depth)};
}

StepFacts ScaledProductStep::facts() const {
  const double weightBytes = bytesOf(plan.right, columns, plan.depth);
  const double results = static_cast<double>(rows) * static_cast<double>(columns);
  return {.kind = StepFacts::Kind::Product,
          .detail = fmt::format("{} x {}, in {}", formatName(plan.left, plan.depth),
                                formatName(plan.right, plan.depth), arithmeticName(plan)),
          .bytes = bytesOf(plan.left, rows, plan.depth) + weightBytes + sizeof(float) * results,
          .arithmetic = 2 * results * static_cast<double>(plan.depth),
          .weight = StepFacts::Weight{.value = weight, .bytes = weightBytes}};
}

} // namespace octavo::steps
