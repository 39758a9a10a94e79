// What takes minutes: run with OCTAVO_EXHAUSTIVE=1 (`KernelsTests --gtest_filter=Exhaustive*`).
#include "octavo/Base/Loops.h"
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/Quantize.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace octavo::kernels {
namespace {

std::vector<Isa> runnableIsas() {
  std::vector<Isa> isas;
  for (Isa isa : builtIsas())
    if (auto why = whyNot(isa))
      GTEST_LOG_(WARNING) << "not run: " << *why;
    else
      isas.push_back(isa);
  return isas;
}

/// A test for each row of a format table, so that a run says how far it is.
template <typename Row> class ForEach : public testing::TestWithParam<Row> {
protected:
  void SetUp() override {
    if (!std::getenv("OCTAVO_EXHAUSTIVE"))
      GTEST_SKIP() << "not run: OCTAVO_EXHAUSTIVE is not set";
  }
};
using ExhaustiveF32 = ForEach<format::ElementFormat>;
using ExhaustiveBlocks = ForEach<format::ScaledFormat>;

template <typename Row> std::string rowName(const testing::TestParamInfo<Row>& info) {
  return std::string(info.param.name);
}

template <typename Row, typename Condition>
std::vector<Row> rowsWhere(std::span<const Row> rows, Condition isWanted) {
  std::vector<Row> wanted;
  std::ranges::copy_if(rows, std::back_inserter(wanted), isWanted);
  return wanted;
}

/// All 2^32 values of f32 to a narrow format, the default conversion, on every set.
TEST_P(ExhaustiveF32, IsWhatNumericsSays) {
  const std::vector<Isa> isas = runnableIsas();
  const format::ElementFormat& row = GetParam();
  std::atomic<std::int64_t> wrong{0};
  constexpr std::int64_t kPiece = std::int64_t{1} << 18;
  base::forEach((std::int64_t{1} << 32) / kPiece, [&](std::int64_t piece) {
    std::vector<float> values(kPiece);
    std::vector<std::uint8_t> expected(kPiece), found(kPiece);
    for (std::int64_t i = 0; i < kPiece; ++i) {
      values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(piece * kPiece + i));
      expected[i] = static_cast<std::uint8_t>(numerics::convert(row, values[i]));
    }
    for (Isa isa : isas) {
      convert(row, {}, WideType::F32, values.data(), found.data(), kPiece, {},
              {.isa = isa, .threads = 1});
      for (std::int64_t i = 0; i < kPiece; ++i)
        if (found[i] != expected[i] && wrong++ < 3)
          ADD_FAILURE() << row.name << " on " << isaName(isa) << ": " << std::hexfloat << values[i]
                        << " gave " << int(found[i]) << ", expected " << int(expected[i]);
    }
  });
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(, ExhaustiveF32,
                         testing::ValuesIn(rowsWhere<format::ElementFormat>(
                             format::kElementFormats,
                             [](const format::ElementFormat& row) { return row.isNarrow(); })),
                         rowName<format::ElementFormat>);

/// Random blocks of a scaled format: every other one of every size of value, the others with an
/// amax a few ulps from where rules and roundings decide. OCTAVO_EXHAUSTIVE is the number of
/// millions of blocks.
TEST_P(ExhaustiveBlocks, AreWhatNumericsSays) {
  const std::vector<Isa> isas = runnableIsas();
  const std::int64_t millions = std::max(1, std::atoi(std::getenv("OCTAVO_EXHAUSTIVE")));
  const format::ScaledFormat& row = GetParam();
  // Formats whose blocks are matrices, rows or tensors: so many values, with edges that are ragged.
  const bool isVector = row.across == 1 && row.along != format::kWholeAxis;
  const std::int64_t rows = isVector ? 1000 : 250, length = isVector ? row.along : 130;
  const auto n = static_cast<std::size_t>(rows * length);
  constexpr auto kRoundings =
      std::to_array({numerics::Rounding::TiesToEven, numerics::Rounding::TiesToAway,
                     numerics::Rounding::TiesTowardZero});
  std::atomic<std::int64_t> wrong{0};
  base::forEach(millions * 1000, [&](std::int64_t piece) {
    std::mt19937 random(static_cast<std::uint32_t>(piece));
    std::vector<float> values(n);
    // Under an outer scale only blocks within 2^-17 of the tensor's amax have a scale of their own.
    constexpr std::uint32_t kSizes = 0x7F000000, kOctave = 0x00800000;
    const std::uint32_t top =
        row.hasOuterScale ? static_cast<std::uint32_t>(random() % kSizes) : kSizes;
    const std::uint32_t spread = row.hasOuterScale ? std::min(top, 20 * kOctave) : kSizes;
    for (std::size_t block = 0; block < n; block += static_cast<std::size_t>(length)) {
      const std::uint32_t size = top - static_cast<std::uint32_t>(random() % (spread + 1));
      for (std::size_t i = 0; i < static_cast<std::size_t>(length); ++i) {
        const auto bits = static_cast<std::uint32_t>(random());
        // Within 2^-8 of the block's size to 8 octaves below, or a short significand and an ulp.
        const std::uint32_t near = size - (bits >> 5) % 0x04000000;
        const std::uint32_t edge =
            ((size - (bits >> 8) % 8 * kOctave) & 0xFFFC0000) + (bits >> 16) % 3 - 1;
        const std::uint32_t magnitude =
            (block / static_cast<std::size_t>(length) % 2 ? edge : near) & 0x7FFFFFFF;
        values[i + block] =
            std::bit_cast<float>((magnitude < 0x7F800000 ? magnitude : size) | (bits << 31));
      }
    }
    QuantizeOptions options{
        .rule =
            format::kScaleRules[static_cast<std::size_t>(piece) % format::kScaleRules.size()].rule};
    // Of 8 pieces 2 round otherwise, 2 lie along the first axis, 1 has NaN and Inf.
    const std::int64_t kind = piece / 5 % 8;
    if (kind < 2)
      options.rounding = kRoundings[static_cast<std::size_t>(1 + kind)];
    if (kind == 4 && !row.hasOuterScale) {
      options.nonFinite = numerics::NonFinite::Propagate;
      for (std::size_t i = 0; i < 8; ++i)
        values[random() % n] = std::bit_cast<float>(i % 2 ? 0xFF800000 : 0x7FC00000);
    }
    std::vector<std::int64_t> shape{rows, length};
    const bool isFirstAxis = kind == 2 || kind == 3;
    if (isFirstAxis) {
      std::vector<float> across(n);
      for (std::size_t i = 0; i < n; ++i)
        across[i % static_cast<std::size_t>(length) * static_cast<std::size_t>(rows) +
               i / static_cast<std::size_t>(length)] = values[i];
      values.swap(across);
      std::swap(shape[0], shape[1]);
    }
    const ScaledType type{row.element, row.scale,
                          format::blockShape(row, shape, isFirstAxis ? 0 : 1), row.hasOuterScale};
    const auto expected = numerics::quantize(values, shape, type, options).tensor;
    std::vector<std::uint8_t> codes(n), scales(expected.scales.size() * 4);
    for (Isa isa : isas) {
      const QuantizeReport report = quantize(values.data(), shape, type, options, codes.data(),
                                             scales.data(), {}, {.isa = isa, .threads = 1});
      bool same = codes == expected.elements && report.outer == expected.outer;
      const auto bytes = static_cast<std::size_t>(row.scale->bytes());
      for (std::size_t b = 0; b < expected.scales.size() && same; ++b) {
        std::uint32_t code = 0;
        std::memcpy(&code, scales.data() + b * bytes, bytes);
        same = code == expected.scales[b];
      }
      if (!same && wrong++ < 3)
        ADD_FAILURE() << row.name << " on " << isaName(isa) << ": piece " << piece;
    }
  });
  EXPECT_EQ(wrong, 0);
}

INSTANTIATE_TEST_SUITE_P(, ExhaustiveBlocks,
                         testing::ValuesIn(rowsWhere<format::ScaledFormat>(
                             format::kScaledFormats,
                             [](const format::ScaledFormat&) { return true; })),
                         rowName<format::ScaledFormat>);

} // namespace
} // namespace octavo::kernels
