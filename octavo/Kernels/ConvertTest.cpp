// Every expectation comes from numerics::convert and numerics::decode, which their own tests hold
// to the standards and to ml_dtypes.
#include "octavo/Kernels/Convert.h"

#include "octavo/Kernels/OnEachIsa.h"

#include <bit>
#include <cmath>
#include <map>
#include <random>
#include <tbb/global_control.h>
#include <vector>

namespace octavo::kernels {
namespace {

using format::kElementFormats;
using numerics::NanCode;
using numerics::Overflow;

std::vector<const ElementFormat*> narrowFormats() {
  std::vector<const ElementFormat*> rows;
  for (const ElementFormat& row : kElementFormats)
    if (row.isNarrow())
      rows.push_back(&row);
  return rows;
}

constexpr auto kRoundings = {Rounding::TiesToEven,     Rounding::TiesToAway,
                             Rounding::TiesTowardZero, Rounding::TowardZero,
                             Rounding::TowardPositive, Rounding::TowardNegative,
                             Rounding::Stochastic};

/// Every exponent, with significands around each tie and each value of up to five trailing bits.
std::vector<float> cornerValues() {
  std::vector<float> values;
  for (std::uint32_t top = 0; top < 512; ++top)
    for (std::uint32_t kept = 0; kept < 32; ++kept)
      for (std::uint32_t rest : {0u, 1u, 0x1FFFFu, 0x20000u, 0x20001u, 0x3FFFFu})
        values.push_back(std::bit_cast<float>(top << 23 | kept << 18 | rest));
  for (std::uint32_t bit = 0; bit < 23; ++bit)
    for (std::uint32_t sign : {0u, 0x80000000u})
      values.push_back(std::bit_cast<float>(sign | 1u << bit));
  return values;
}

std::vector<float> randomValues(std::size_t n) {
  std::mt19937 random(20261121);
  std::vector<float> values(n);
  for (float& value : values)
    value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
  return values;
}

/// All 65536 codes of a 16-bit format.
std::vector<std::uint16_t> allHalves() {
  std::vector<std::uint16_t> codes(1 << 16);
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::uint16_t>(i);
  return codes;
}

/// Random numbers, among them those that decide between a fraction's two neighbours.
std::vector<std::uint32_t> randomBitsFor(std::size_t n) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> numbers(n);
  for (std::size_t i = 0; i < n; ++i) {
    const auto number = static_cast<std::uint32_t>(random());
    numbers[i] = i % 4 == 0   ? number
                 : i % 4 == 1 ? number & 0xE0000000
                 : i % 4 == 2 ? (number & 0xE0000000) - 1
                              : number >> (number % 32);
  }
  return numbers;
}

std::vector<std::uint8_t> expectedCodes(const ElementFormat& format, Conversion conversion,
                                        std::span<const double> values,
                                        std::span<const std::uint32_t> random) {
  std::vector<std::uint8_t> codes(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    conversion.randomBits = random.empty() ? 0 : random[i];
    codes[i] = static_cast<std::uint8_t>(numerics::convert(format, values[i], conversion));
  }
  return codes;
}

std::string describe(const ElementFormat& format, const Conversion& conversion) {
  return std::string(format.name) + " " + std::string(numerics::roundingName(conversion.rounding)) +
         " " + std::string(numerics::overflowName(conversion.overflow)) +
         (conversion.nan == NanCode::Maximum ? " nan-maximum" : "");
}

void expectSame(std::span<const std::uint8_t> found, std::span<const std::uint8_t> expected,
                std::span<const double> values, const std::string& what) {
  int reported = 0;
  for (std::size_t i = 0; i < expected.size() && reported < 5; ++i)
    if (found[i] != expected[i]) {
      ++reported;
      ADD_FAILURE() << what << ": " << std::hexfloat << values[i] << " (element " << std::dec << i
                    << ") gave code " << int(found[i]) << ", expected " << int(expected[i]);
    }
}

/// One input in each wide type, with its values as doubles; what every conversion gives for them is
/// computed once for all sets.
struct Inputs {
  WideType type;
  std::vector<std::byte> bytes;
  std::vector<double> values;
  std::vector<std::uint32_t> random;
  std::map<std::string, std::vector<std::uint8_t>> expected;

  const std::vector<std::uint8_t>& expectedFor(const ElementFormat& format,
                                               const Conversion& conversion) {
    auto [entry, isNew] = expected.try_emplace(describe(format, conversion));
    if (isNew)
      entry->second = expectedCodes(
          format, conversion, values,
          conversion.rounding == Rounding::Stochastic ? random : std::vector<std::uint32_t>());
    return entry->second;
  }
};

Inputs wideInputs(WideType type) {
  Inputs inputs;
  inputs.type = type;
  if (type == WideType::F32) {
    const std::vector<float> values = cornerValues();
    const auto* bytes = reinterpret_cast<const std::byte*>(values.data());
    inputs.bytes.assign(bytes, bytes + values.size() * sizeof(float));
    inputs.values.assign(values.begin(), values.end());
  } else {
    const ElementFormat& format =
        type == WideType::Bf16 ? format::element("bf16") : format::element("f16");
    const std::vector<std::uint16_t> codes = allHalves();
    const auto* bytes = reinterpret_cast<const std::byte*>(codes.data());
    inputs.bytes.assign(bytes, bytes + codes.size() * sizeof(std::uint16_t));
    for (std::uint16_t code : codes) {
      const double value = numerics::decode(format, code);
      inputs.values.push_back(std::isnan(value) && code >> 15 ? std::copysign(value, -1.0) : value);
    }
  }
  inputs.random = randomBitsFor(inputs.values.size());
  return inputs;
}

class ConvertKernels : public OnEachIsa {
protected:
  void sweep(Inputs& inputs) {
    const std::size_t n = inputs.values.size();
    std::vector<std::uint8_t> codes(n);
    for (const ElementFormat* format : narrowFormats())
      for (Rounding rounding : kRoundings)
        for (Overflow overflow : {Overflow::Saturate, Overflow::Special})
          for (NanCode nan : {NanCode::NegativeZero, NanCode::Maximum}) {
            if (format->hasNan() && nan == NanCode::Maximum)
              continue;
            const Conversion conversion{.rounding = rounding, .overflow = overflow, .nan = nan};
            const auto& expected = inputs.expectedFor(*format, conversion);
            const bool stochastic = rounding == Rounding::Stochastic;
            convert(*format, conversion, inputs.type, inputs.bytes.data(), codes.data(), n,
                    stochastic ? std::span<const std::uint32_t>(inputs.random)
                               : std::span<const std::uint32_t>(),
                    execution());
            expectSame(codes, expected, inputs.values, describe(*format, conversion));
          }
  }
};
OCTAVO_ON_EACH_ISA(ConvertKernels);

TEST_P(ConvertKernels, F32EveryRoundingAndOverflow) {
  static Inputs inputs = wideInputs(WideType::F32);
  sweep(inputs);
}
TEST_P(ConvertKernels, Bf16EveryValue) {
  static Inputs inputs = wideInputs(WideType::Bf16);
  sweep(inputs);
}
TEST_P(ConvertKernels, F16EveryValue) {
  static Inputs inputs = wideInputs(WideType::F16);
  sweep(inputs);
}

TEST_P(ConvertKernels, RandomF32) {
  static const std::vector<float> values = randomValues(1 << 20);
  static const std::vector<double> doubles(values.begin(), values.end());
  static std::map<std::string_view, std::vector<std::uint8_t>> expected;
  std::vector<std::uint8_t> codes(values.size());
  for (const ElementFormat* format : narrowFormats()) {
    auto& row = expected[format->name];
    if (row.empty())
      row = expectedCodes(*format, {}, doubles, {});
    convert(*format, {}, WideType::F32, values.data(), codes.data(), values.size(), {},
            execution());
    expectSame(codes, row, doubles, describe(*format, {}));
  }
}

/// Every length around the vectors' and every misalignment, cached and streaming; nothing beyond
/// the end is written.
TEST_P(ConvertKernels, LengthsAndAlignments) {
  const ElementFormat& format = format::element("e4m3fn");
  const KernelTable& table = kernelTable(GetParam());
  const ConvertPlan plan = convertPlan(format, {});
  const DecodePlan& decoding = decodePlan(format);
  const std::vector<float> values = randomValues(400);
  const std::vector<double> doubles(values.begin(), values.end());
  const std::vector<std::uint8_t> expected = expectedCodes(format, {}, doubles, {});
  alignas(64) std::uint8_t codes[512];
  alignas(64) float back[512];
  for (Stores stores : {Stores::Cached, Stores::Streaming})
    for (std::size_t offset : {0, 1, 5, 16, 31, 63})
      for (std::size_t n = 0; n <= 300; n += n < 140 ? 1 : 37) {
        std::fill(std::begin(codes), std::end(codes), 0xAA);
        table.convertF32(plan, values.data() + offset, codes + offset, n, nullptr, stores);
        for (std::size_t i = 0; i < std::size(codes); ++i) {
          const bool written = i >= offset && i < offset + n;
          ASSERT_EQ(codes[i], written ? expected[i] : 0xAA) << n << " at " << offset << ", " << i;
        }
        std::fill(std::begin(back), std::end(back), -1.5f);
        table.decodeF32(decoding, codes + offset, back + offset, n, stores);
        for (std::size_t i = 0; i < std::size(back); ++i) {
          const bool written = i >= offset && i < offset + n;
          const auto value = static_cast<float>(numerics::decode(format, codes[i]));
          if (written && std::isnan(value))
            ASSERT_TRUE(std::isnan(back[i]));
          else
            ASSERT_EQ(back[i], written ? value : -1.5f) << n << " at " << offset << ", " << i;
        }
      }
}

TEST_P(ConvertKernels, ThreadsGiveTheSameBits) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 7);
  const std::vector<float> values = randomValues((1 << 18) + 77);
  const std::vector<std::uint32_t> random = randomBitsFor(values.size());
  const ElementFormat& format = format::element("e5m2");
  const Conversion conversion{.rounding = Rounding::Stochastic};
  std::vector<std::uint8_t> first;
  for (int threads : {1, 2, 3, 7}) {
    std::vector<std::uint8_t> codes(values.size());
    convert(format, conversion, WideType::F32, values.data(), codes.data(), values.size(), random,
            execution(threads));
    if (first.empty())
      first = codes;
    EXPECT_EQ(codes, first) << threads << " threads";
  }
}

TEST_P(ConvertKernels, EveryCodeDecoded) {
  std::vector<std::uint8_t> codes(256 * 3 + 5);
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::uint8_t>(i);
  for (const ElementFormat* format : narrowFormats()) {
    std::vector<float> f32(codes.size());
    std::vector<std::uint16_t> bf16(codes.size()), f16(codes.size());
    decode(*format, codes.data(), WideType::F32, f32.data(), codes.size(), execution());
    decode(*format, codes.data(), WideType::Bf16, bf16.data(), codes.size(), execution());
    decode(*format, codes.data(), WideType::F16, f16.data(), codes.size(), execution());
    for (std::size_t i = 0; i < codes.size(); ++i) {
      const double value = numerics::decode(*format, codes[i]);
      if (std::isnan(value)) {
        EXPECT_TRUE(std::isnan(f32[i])) << format->name << " " << i;
        EXPECT_TRUE(format::element("bf16").isNan(bf16[i])) << format->name << " " << i;
        EXPECT_TRUE(format::element("f16").isNan(f16[i])) << format->name << " " << i;
        continue;
      }
      EXPECT_EQ(std::bit_cast<std::uint32_t>(f32[i]),
                std::bit_cast<std::uint32_t>(static_cast<float>(value)))
          << format->name << " " << i;
      EXPECT_EQ(bf16[i], numerics::convert(format::element("bf16"), value))
          << format->name << " " << i;
      EXPECT_EQ(f16[i], numerics::convert(format::element("f16"), value))
          << format->name << " " << i;
    }
  }
}

TEST_P(ConvertKernels, ASeedGivesTheCodesOfItsNumbers) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 3);
  const numerics::RandomStream stream{.seed = 7, .stream = 1};
  const ElementFormat& format = format::element("e4m3fn");
  for (std::size_t n : {0, 1, 33, 2048, 2049, 200001})
    for (std::uint64_t first : {std::uint64_t{0}, std::uint64_t{5}, (std::uint64_t{1} << 34) - 3}) {
      std::vector<float> values(n);
      for (std::size_t i = 0; i < n; ++i)
        values[i] = 1 + static_cast<float>(i % 1000) / 1000;
      for (int threads : {1, 3}) {
        std::vector<std::uint8_t> codes(n);
        convertSeeded(format, {.rounding = Rounding::Stochastic}, WideType::F32, values.data(),
                      codes.data(), n, stream, first, execution(threads));
        for (std::size_t i = 0; i < n; i += 1 + n / 5000)
          ASSERT_EQ(codes[i], numerics::convert(format, values[i],
                                                {.rounding = Rounding::Stochastic,
                                                 .randomBits = stream[first + i]}))
              << i << " of " << n << " from " << first;
      }
    }
}

/// Random123's numbers, by way of numerics::RandomStream: parts that begin and end anywhere.
TEST_P(ConvertKernels, FillRandom) {
  const KernelTable& table = kernelTable(GetParam());
  const numerics::RandomStream stream{.seed = 0x299f31d0a4093822, .stream = 0x0370734413198a2e};
  for (std::uint64_t first : {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{61},
                              (std::uint64_t{1} << 34) - 70, ~std::uint64_t{0} - 300})
    for (std::size_t n : {0, 1, 15, 64, 200}) {
      std::vector<std::uint32_t> found(n + 1, 0xAAAAAAAA), expected(n);
      table.fillRandom(stream, first, found.data(), n);
      stream.fill(first, expected);
      EXPECT_EQ(found.back(), 0xAAAAAAAA);
      found.pop_back();
      EXPECT_EQ(found, expected) << first << " + " << n;
    }
}

} // namespace
} // namespace octavo::kernels
