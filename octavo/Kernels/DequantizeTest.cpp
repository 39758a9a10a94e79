// Every expectation comes from numerics::dequantize.
#include "octavo/Kernels/Dequantize.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/OnEachIsa.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <random>
#include <tbb/global_control.h>
#include <vector>

namespace octavo::kernels {
namespace {

using Shape = std::vector<std::int64_t>;

/// Any codes, any scales: what a foreign file may hold.
numerics::ScaledTensor randomTensor(const Shape& shape, const ScaledType& type, float outer) {
  std::mt19937 random(3);
  numerics::ScaledTensor tensor;
  tensor.shape = shape;
  tensor.type = type;
  tensor.outer = outer;
  std::size_t n = 1, blocks = 1;
  for (std::int64_t extent : shape)
    n *= static_cast<std::size_t>(extent);
  for (std::int64_t extent : format::scaleShape(shape, type.block))
    blocks *= static_cast<std::size_t>(extent);
  for (std::size_t i = 0; i < n; ++i)
    tensor.elements.push_back(static_cast<std::uint8_t>(random()));
  for (std::size_t i = 0; i < blocks; ++i)
    tensor.scales.push_back(static_cast<std::uint32_t>(random()) &
                            static_cast<std::uint32_t>(type.scale->codeMask()));
  return tensor;
}

class DequantizeKernels : public OnEachIsa {
protected:
  void expectAsNumerics(const Shape& shape, const ScaledType& type, float outer,
                        const std::string& what, std::initializer_list<int> threads = {1}) {
    const numerics::ScaledTensor tensor = randomTensor(shape, type, outer);
    const std::vector<float> expected = numerics::dequantize(tensor);
    std::vector<std::byte> scales;
    for (std::uint32_t code : tensor.scales) {
      const auto* bytes = reinterpret_cast<const std::byte*>(&code);
      scales.insert(scales.end(), bytes, bytes + type.scale->bytes());
    }
    for (int number : threads) {
      std::vector<float> values(expected.size() + 32, -7.25f);
      dequantize(tensor.elements.data(), scales.data(), outer, shape, type, values.data(),
                 execution(number));
      int reported = 0;
      for (std::size_t i = 0; i < expected.size() && reported < 3; ++i) {
        const bool same = std::isnan(expected[i]) ? std::isnan(values[i])
                                                  : std::bit_cast<std::uint32_t>(values[i]) ==
                                                        std::bit_cast<std::uint32_t>(expected[i]);
        if (!same) {
          ++reported;
          ADD_FAILURE() << what << ": element " << i << " is " << values[i] << ", expected "
                        << expected[i] << ", threads: " << number;
        }
      }
      for (std::size_t i = expected.size(); i < values.size(); ++i)
        ASSERT_EQ(values[i], -7.25f) << what << ": written beyond the end";
    }
  }
};
OCTAVO_ON_EACH_ISA(DequantizeKernels);

TEST_P(DequantizeKernels, EveryFormatShapeAndAxis) {
  for (const Shape& shape : {Shape{1}, Shape{33}, Shape{5, 100}, Shape{64, 64}, Shape{67, 3},
                             Shape{2, 33, 70}, Shape{129, 257}, Shape{0, 4}})
    for (const format::ScaledFormat& row : format::kScaledFormats)
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis)
        expectAsNumerics(
            shape,
            {row.element, row.scale, format::blockShape(row, shape, axis), row.hasOuterScale},
            row.hasOuterScale ? 0.0123f : 1.0f,
            std::string(row.name) + " axis " + std::to_string(axis));
}

TEST_P(DequantizeKernels, UnusualBlocksAndScales) {
  const Shape shape{12, 30, 44};
  for (const Shape& block : {Shape{1, 1, 1}, Shape{1, 1, 3}, Shape{2, 5, 7}, Shape{1, 1, 64},
                             Shape{12, 1, 1}, Shape{5, 30, 44}, Shape{100, 100, 100}})
    for (const char* scale : {"e8m0fnu", "e4m3fn", "e5m2", "e4m3fnuz", "f32", "bf16"})
      for (const format::ElementFormat& element : format::kElementFormats) {
        const format::ElementFormat* format = format::findElementFormat(scale);
        if (!element.isNarrow() || !element.hasZero())
          continue;
        const ScaledType type{&element, format, block, format->isNarrow()};
        for (float outer : {1.0f, 3.4e-39f, 0.37f, 1.1e36f})
          if (type.hasOuterScale || outer == 1.0f)
            expectAsNumerics(shape, type, outer, std::string(element.name) + " on " + scale);
      }
}

TEST_P(DequantizeKernels, ThreadsGiveTheSameBits) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 7);
  for (const char* name : {"mxfp4", "nvfp4", "fp8_tensor", "fp8_block"})
    for (int axis : {0, 1}) {
      const format::ScaledFormat& row = *format::findScaledFormat(name);
      const Shape shape{513, 1088};
      expectAsNumerics(
          shape, {row.element, row.scale, format::blockShape(row, shape, axis), row.hasOuterScale},
          row.hasOuterScale ? 3.0f : 1.0f, name, {1, 2, 3, 7});
    }
}

TEST_P(DequantizeKernels, StreamingAtAnyAddress) {
  const KernelTable& table = kernelTable(GetParam());
  const DecodePlan& plan = decodePlan(format::element("e2m1fn"));
  for (std::size_t n : {1, 40, 1500, 9001}) {
    std::vector<std::uint8_t> codes(n);
    for (std::size_t i = 0; i < n; ++i)
      codes[i] = static_cast<std::uint8_t>(i * 11);
    const std::vector<float> scales(n / 32 + 1, 0.5f);
    for (std::size_t offset : {0, 1, 4, 15}) {
      std::vector<float> values(n + 64, -7.25f);
      auto* aligned = reinterpret_cast<float*>(
          (reinterpret_cast<std::uintptr_t>(values.data()) + 63) / 64 * 64);
      float* to = aligned + offset;
      table.dequantizeRun(plan, {.codes = codes.data(),
                                 .n = n,
                                 .block = 32,
                                 .scales = scales.data(),
                                 .outer = 1.0f,
                                 .values = to,
                                 .stores = Stores::Streaming});
      for (std::size_t i = 0; i < n; ++i)
        ASSERT_EQ(to[i], 0.5f * numerics::decode(format::element("e2m1fn"), codes[i])) << i;
      for (float* p = values.data(); p < values.data() + values.size(); ++p)
        if (p < to || p >= to + n)
          ASSERT_EQ(*p, -7.25f) << n << " at " << offset;
    }
  }
}

} // namespace
} // namespace octavo::kernels
