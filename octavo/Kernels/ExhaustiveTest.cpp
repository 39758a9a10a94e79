// What takes minutes: run with OCTAVO_EXHAUSTIVE=1 (`KernelsTests --gtest_filter=Exhaustive*`).
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/KernelTable.h"
#include "octavo/Kernels/Quantize.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <tbb/parallel_for.h>
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

class Exhaustive : public testing::Test {
protected:
  void SetUp() override {
    if (!std::getenv("OCTAVO_EXHAUSTIVE"))
      GTEST_SKIP() << "not run: OCTAVO_EXHAUSTIVE is not set";
  }
};

/// All 2^32 values of f32 to every narrow format, the default conversion, on every set.
TEST_F(Exhaustive, EveryF32) {
  const std::vector<Isa> isas = runnableIsas();
  for (const format::ElementFormat& row : format::kElementFormats) {
    if (!row.isNarrow())
      continue;
    std::atomic<std::int64_t> wrong{0};
    constexpr std::size_t kPiece = std::size_t{1} << 18;
    tbb::parallel_for(std::size_t{0}, (std::size_t{1} << 32) / kPiece, [&](std::size_t piece) {
      std::vector<float> values(kPiece);
      std::vector<std::uint8_t> expected(kPiece), found(kPiece);
      for (std::size_t i = 0; i < kPiece; ++i) {
        values[i] = std::bit_cast<float>(static_cast<std::uint32_t>(piece * kPiece + i));
        expected[i] = static_cast<std::uint8_t>(numerics::convert(row, values[i]));
      }
      for (Isa isa : isas) {
        convert(row, {}, WideType::F32, values.data(), found.data(), kPiece, {},
                {.isa = isa, .threads = 1});
        for (std::size_t i = 0; i < kPiece; ++i)
          if (found[i] != expected[i] && wrong++ < 3)
            ADD_FAILURE() << row.name << " on " << isaName(isa) << ": " << std::hexfloat
                          << values[i] << " gave " << int(found[i]) << ", expected "
                          << int(expected[i]);
      }
    });
    EXPECT_EQ(wrong, 0) << row.name;
  }
}

/// Random blocks of scaled formats: half of every size of value, half with an amax a few ulps from
/// where rules and roundings decide. OCTAVO_EXHAUSTIVE is the number of millions of blocks a
/// format.
TEST_F(Exhaustive, Blocks) {
  const std::vector<Isa> isas = runnableIsas();
  const std::int64_t millions = std::max(1, std::atoi(std::getenv("OCTAVO_EXHAUSTIVE")));
  for (const format::ScaledFormat& row : format::kScaledFormats) {
    if (row.across != 1 || row.along == format::kWholeAxis)
      continue;
    constexpr std::int64_t kRows = 1000;
    const std::vector<std::int64_t> shape{kRows, row.along};
    const ScaledType type{row.element, row.scale, {1, row.along}, row.hasOuterScale};
    const auto n = static_cast<std::size_t>(kRows * row.along);
    std::atomic<std::int64_t> wrong{0};
    tbb::parallel_for(std::int64_t{0}, millions * 1000, [&](std::int64_t piece) {
      std::mt19937 random(static_cast<std::uint32_t>(piece));
      std::vector<float> values(n);
      for (std::size_t block = 0; block < n; block += static_cast<std::size_t>(row.along)) {
        const auto size = static_cast<std::uint32_t>(random() % 0x7F000000);
        for (std::size_t i = 0; i < static_cast<std::size_t>(row.along); ++i) {
          const auto bits = static_cast<std::uint32_t>(random());
          // Within 2^-8 of the block's size to 8 octaves below, or a short significand and an ulp.
          const std::uint32_t near = size - (bits >> 5) % 0x04000000;
          const std::uint32_t edge =
              ((size - (bits >> 8) % 8 * 0x00800000) & 0xFFFC0000) + (bits >> 16) % 3 - 1;
          const std::uint32_t magnitude = (block & 64 ? edge : near) & 0x7FFFFFFF;
          values[i + block] =
              std::bit_cast<float>((magnitude < 0x7F800000 ? magnitude : size) | (bits << 31));
        }
      }
      const QuantizeOptions options{
          .rule = format::kScaleRules[static_cast<std::size_t>(piece) % format::kScaleRules.size()]
                      .rule};
      const auto expected = numerics::quantize(values, shape, type, options).tensor;
      std::vector<std::uint8_t> codes(n), scales(kRows * 4);
      for (Isa isa : isas) {
        const QuantizeReport report = quantize(values.data(), shape, type, options, codes.data(),
                                               scales.data(), {}, {.isa = isa, .threads = 1});
        bool same = codes == expected.elements && report.outer == expected.outer;
        const auto bytes = static_cast<std::size_t>(row.scale->bytes());
        for (std::size_t b = 0; b < kRows && same; ++b) {
          std::uint32_t code = 0;
          std::memcpy(&code, scales.data() + b * bytes, bytes);
          same = code == expected.scales[b];
        }
        if (!same && wrong++ < 3)
          ADD_FAILURE() << row.name << " on " << isaName(isa) << ": piece " << piece;
      }
    });
    EXPECT_EQ(wrong, 0) << row.name;
  }
}

} // namespace
} // namespace octavo::kernels
