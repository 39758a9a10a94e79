#include "octavo/Kernels/Product/ProductEpilogue.h"

#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Numerics/Dot.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace octavo::kernels {

ProductEpilogue::ProductEpilogue(const Epilogue& epilogue, Isa isa, void* output, std::int64_t item,
                                 std::int64_t rows, std::int64_t columns, OuterScales outer,
                                 SharedMaximum& amax)
    : epilogue(epilogue), kernels(productKernels(isa).epilogue), isa(isa), columns(columns),
      outer(outer), factor(outer.left * outer.right), amax(amax) {
  const format::ElementFormat& format = *epilogue.format;
  assert(format.isNarrow() || format.name == "f32" || format.name == "bf16" ||
         format.name == "f16");
  const std::int64_t first = item * rows * columns;
  this->output = static_cast<std::byte*>(output) + first * format.bytes();
  addend = epilogue.addend ? epilogue.addend + first : nullptr;
  residual = epilogue.residual ? epilogue.residual + first : nullptr;
  bias = epilogue.bias ? epilogue.bias + item * epilogue.biasStride : nullptr;
  stored = format.name == "f32"    ? Stored::F32
           : format.name == "bf16" ? Stored::Bf16
           : format.name == "f16"  ? Stored::F16
                                   : Stored::Narrow;
  assert(stored == Stored::Narrow || epilogue.scale == 1);
  // An addend or residual may be the output itself, so sums must not overwrite it.
  inPlace = stored == Stored::F32 && !addend && !residual;
  isIdentity =
      inPlace && !bias && epilogue.activation == Activation::None && !epilogue.amax && factor == 1;
  if (stored == Stored::Narrow)
    conversion = convertPlan(format, {.overflow = numerics::Overflow::Saturate});
}

SumsBlock ProductEpilogue::begin(std::int64_t rowBegin, std::int64_t rowEnd,
                                 std::int64_t columnBegin, std::int64_t columnEnd) const {
  SumsBlock block{rowBegin, rowEnd, columnBegin, columnEnd, nullptr, columns};
  if (inPlace) {
    block.sums = reinterpret_cast<float*>(output) + rowBegin * columns + columnBegin;
    return block;
  }
  thread_local PackedBytes memory;
  // The stride is not a power of two: stores and loads would falsely alias (4 KiB aliasing).
  block.stride = (columnEnd - columnBegin + 15) / 16 * 16 + 16;
  const auto bytes = static_cast<std::size_t>((rowEnd - rowBegin) * block.stride) * sizeof(float);
  if (memory.size() < bytes)
    memory = PackedBytes(bytes);
  block.sums = reinterpret_cast<float*>(memory.data());
  return block;
}

void ProductEpilogue::multiplyOuterScales(const SumsBlock& block) const {
  for (std::int64_t row = block.rowBegin; row < block.rowEnd && factor != 1; ++row)
    for (std::int64_t n = block.columnBegin; n < block.columnEnd; ++n) {
      float& sum = *block.at(row, n);
      sum = numerics::timesOuterScales(sum, outer.left, outer.right);
    }
}

void ProductEpilogue::finish(const SumsBlock& block, bool isScaled) const {
  if (!isScaled && !std::isnormal(factor)) {
    multiplyOuterScales(block);
    isScaled = true;
  }
  if (isIdentity)
    return;
  std::uint32_t greatest = 0;
  const std::int64_t width = block.columnEnd - block.columnBegin;
  for (std::int64_t row = block.rowBegin; row < block.rowEnd; ++row) {
    const std::int64_t at = row * columns + block.columnBegin;
    float* sums = block.at(row, block.columnBegin);
    float* values = stored == Stored::F32 ? reinterpret_cast<float*>(output) + at : sums;
    const EpilogueRow each{.sums = sums,
                           .columns = width,
                           .factor = isScaled ? 1.0f : factor,
                           .addend = addend ? addend + at : nullptr,
                           .bias = bias ? bias + block.columnBegin : nullptr,
                           .residual = residual ? residual + at : nullptr,
                           .divides = stored == Stored::Narrow && epilogue.scale != 1,
                           .divisor = epilogue.scale,
                           .values = values};
    greatest = std::max(greatest, kernels.finishRow[static_cast<int>(epilogue.activation)](each));
    auto* halves = reinterpret_cast<std::uint16_t*>(output) + at;
    if (stored == Stored::Bf16)
      kernels.roundToBf16(values, width, halves);
    else if (stored == Stored::F16)
      kernels.roundToF16(values, width, halves);
    else if (stored == Stored::Narrow)
      kernelTable(isa).convertF32(conversion, values, reinterpret_cast<std::uint8_t*>(output) + at,
                                  static_cast<std::size_t>(width), nullptr, Stores::Cached);
  }
  amax.raise(greatest);
}

} // namespace octavo::kernels
