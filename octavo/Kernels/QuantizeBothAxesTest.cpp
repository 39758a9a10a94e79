// Every expectation is numerics::quantize of the tensor along one axis, laid out here.
#include "octavo/Kernels/QuantizeBothAxes.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Numerics/Preset.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <tbb/global_control.h>

namespace octavo::kernels {
namespace {

using Shape = std::vector<std::int64_t>;

std::size_t sizeOf(const Shape& shape) {
  std::size_t n = 1;
  for (std::int64_t extent : shape)
    n *= static_cast<std::size_t>(extent);
  return n;
}

std::vector<float> valuesOf(std::size_t n) {
  std::mt19937 random(static_cast<std::uint32_t>(n));
  std::normal_distribution<float> normal(0.0f, 3.0f);
  std::vector<float> values(n);
  for (std::size_t i = 0; i < n; ++i)
    values[i] = i % 11 == 0 ? 0.0f : std::ldexp(normal(random), static_cast<int>(i / 7 % 40) - 20);
  return values;
}

/// Row-major items of a tensor with its last two axes exchanged.
template <typename T> std::vector<T> transposed(const std::vector<T>& items, const Shape& shape) {
  const auto rows = static_cast<std::size_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<std::size_t>(shape.back());
  std::vector<T> out(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::size_t matrix = i / (rows * columns), r = i / columns % rows, c = i % columns;
    out[(matrix * columns + c) * rows + r] = items[i];
  }
  return out;
}

struct Expected {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint32_t> scales;
  numerics::ScaledTensor tensor;
  std::int64_t nonFinite;
};

Expected expect(const std::vector<float>& values, const Shape& shape, const ScaledType& type,
                const QuantizeOptions& options, Layout layout,
                std::span<const std::uint32_t> random) {
  auto quantized = numerics::quantize(values, shape, type, options, random);
  Expected expected{quantized.tensor.elements, quantized.tensor.scales, quantized.tensor,
                    quantized.nonFinite};
  if (layout == Layout::Transposed) {
    expected.codes = transposed(expected.codes, shape);
    const auto grid = format::scaleShape(shape, type.block);
    expected.scales = transposed(expected.scales, Shape(grid.begin(), grid.end()));
  }
  return expected;
}

/// Output memory that shows what was written beyond it.
struct Output {
  Output(std::size_t elements, std::size_t blocks, std::size_t scaleBytes)
      : codes(elements + 64, 0xAA), scales(blocks * scaleBytes + 64, 0xAA), elements(elements),
        blocks(blocks), scaleBytes(scaleBytes) {}

  void compare(const Expected& expected, const std::string& what) const {
    for (std::size_t i = 0; i < elements; ++i)
      ASSERT_EQ(int(codes[i]), int(expected.codes[i])) << what << ": code " << i;
    for (std::size_t b = 0; b < blocks; ++b) {
      std::uint32_t code = 0;
      std::memcpy(&code, scales.data() + b * scaleBytes, scaleBytes);
      ASSERT_EQ(code, expected.scales[b]) << what << ": scale " << b;
    }
    for (std::size_t i = elements; i < codes.size(); ++i)
      ASSERT_EQ(codes[i], 0xAA) << what;
    for (std::size_t i = blocks * scaleBytes; i < scales.size(); ++i)
      ASSERT_EQ(scales[i], 0xAA) << what;
  }

  std::vector<std::uint8_t> codes, scales;
  std::size_t elements, blocks, scaleBytes;
};

void check(const std::vector<float>& values, const Shape& shape, const format::ScaledFormat& row,
           const QuantizeOptions& options, const Execution& execution,
           std::span<const std::uint32_t> random = {}) {
  const auto rank = static_cast<int>(shape.size());
  auto typeAlong = [&](int axis) {
    return ScaledType{row.element, row.scale, format::blockShape(row, shape, axis),
                      row.hasOuterScale};
  };
  const ScaledType rowType = typeAlong(rank - 1), columnType = typeAlong(rank - 2);
  for (int axis = 0; axis < rank - 2; ++axis)
    if (rowType.block[static_cast<std::size_t>(axis)] != 1)
      return; // one scale of the whole tensor: not what the function is for
  for (Layout layout : {Layout::RowMajor, Layout::Transposed}) {
    std::string what = std::string(row.name) + (layout == Layout::Transposed ? " transposed" : "");
    for (std::int64_t extent : shape)
      what += " " + std::to_string(extent);
    const Expected rowwise = expect(values, shape, rowType, options, Layout::RowMajor, random);
    const Expected columnwise = expect(values, shape, columnType, options, layout, random);
    const auto bytes = static_cast<std::size_t>(row.scale->bytes());
    Output rowOut(values.size(), rowwise.scales.size(), bytes);
    Output columnOut(values.size(), columnwise.scales.size(), bytes);
    const BothAxesReport report = quantizeBothAxes(
        values.data(), shape, options, {rowType, rowOut.codes.data(), rowOut.scales.data(), random},
        {columnType, columnOut.codes.data(), columnOut.scales.data(), random}, layout, execution);
    ASSERT_FALSE(report.rowwise.refused) << what;
    rowOut.compare(rowwise, what + ", rowwise");
    columnOut.compare(columnwise, what + ", columnwise");
    EXPECT_EQ(report.rowwise.outer, rowwise.tensor.outer) << what;
    EXPECT_EQ(report.columnwise.outer, columnwise.tensor.outer) << what;
    EXPECT_EQ(report.rowwise.nonFinite, rowwise.nonFinite) << what;
    EXPECT_EQ(report.columnwise.nonFinite, columnwise.nonFinite) << what;
    if (layout == Layout::RowMajor)
      continue;
    Output alone(values.size(), columnwise.scales.size(), bytes);
    const QuantizeReport one = quantizeTransposed(
        values.data(), shape, options,
        {columnType, alone.codes.data(), alone.scales.data(), random}, execution);
    alone.compare(columnwise, what + ", alone");
    EXPECT_EQ(one.outer, columnwise.tensor.outer) << what;
    EXPECT_EQ(one.nonFinite, columnwise.nonFinite) << what;
  }
}

class BothAxesKernels : public OnEachIsa {};

TEST_P(BothAxesKernels, EveryPreset) {
  const Shape shape{70, 96};
  for (const numerics::Preset& preset : numerics::presets())
    for (const format::ScaledFormat& row : format::kScaledFormats)
      if (preset.appliesTo(row))
        check(valuesOf(sizeOf(shape)), shape, row, preset.options, execution());
}

TEST_P(BothAxesKernels, EveryFormatAndShape) {
  for (const Shape& shape : {Shape{64, 64}, {1, 1}, {33, 70}, {3, 5, 96}, {129, 1100}, {2, 65, 31}})
    for (const format::ScaledFormat& row : format::kScaledFormats)
      check(valuesOf(sizeOf(shape)), shape, row, {.rule = row.rule}, execution());
  const Shape none{4, 0};
  const format::ScaledFormat& row = *format::findScaledFormat("mxfp4");
  const ScaledType type{row.element, row.scale, {32, 1}, false};
  EXPECT_EQ(quantizeTransposed(nullptr, none, {}, {type, nullptr, nullptr}).nonFinite, 0);
}

TEST_P(BothAxesKernels, RandomNumbersGoWithTheValues) {
  const Shape shape{70, 96};
  std::mt19937 random(3);
  std::vector<std::uint32_t> numbers(sizeOf(shape));
  for (std::uint32_t& number : numbers)
    number = static_cast<std::uint32_t>(random());
  for (const format::ScaledFormat& row : format::kScaledFormats)
    check(valuesOf(numbers.size()), shape, row,
          {.rule = row.rule, .rounding = Rounding::Stochastic}, execution(), numbers);
}

TEST_P(BothAxesKernels, NonFiniteValues) {
  const Shape shape{70, 96};
  std::vector<float> values = valuesOf(sizeOf(shape));
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[3000] = -std::numeric_limits<float>::infinity();
  for (const format::ScaledFormat& row : format::kScaledFormats) {
    for (NonFinite policy : {NonFinite::Propagate, NonFinite::Saturate})
      check(values, shape, row, {.rule = row.rule, .nonFinite = policy}, execution());
    const auto along = [&](int axis) {
      return ScaledType{row.element, row.scale, format::blockShape(row, shape, axis),
                        row.hasOuterScale};
    };
    std::vector<std::uint8_t> codes(values.size()), scales(values.size() * 4), more(codes),
        moreScales(scales);
    const BothAxesReport report = quantizeBothAxes(
        values.data(), shape, {.rule = row.rule}, {along(1), codes.data(), scales.data()},
        {along(0), more.data(), moreScales.data()}, Layout::Transposed, execution());
    ASSERT_TRUE(report.rowwise.refused && report.columnwise.refused) << row.name;
    EXPECT_EQ(report.columnwise.refused->index, 5) << row.name;
  }
}

TEST_P(BothAxesKernels, ThreadsGiveTheSameBits) {
  const tbb::global_control more(tbb::global_control::max_allowed_parallelism, 8);
  const Shape shape{130, 1100};
  const std::vector<float> values = valuesOf(sizeOf(shape));
  for (int threads : {1, 2, 3, 7})
    for (const char* name : {"mxfp8_e4m3", "nvfp4"})
      check(values, shape, *format::findScaledFormat(name), {}, execution(threads));
}

OCTAVO_ON_EACH_ISA(BothAxesKernels);

} // namespace
} // namespace octavo::kernels
