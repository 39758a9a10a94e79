// Every expectation comes from numerics::quantize and numerics::dequantize.
#include "octavo/Kernels/Quantize.h"

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Numerics/Preset.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <tbb/global_control.h>
#include <vector>

namespace octavo::kernels {
namespace {

using format::kScaledFormats;
using format::kScaleRules;
using numerics::Int8Range;
using numerics::Overflow;

using Shape = std::vector<std::int64_t>;

std::size_t sizeOf(const Shape& shape) {
  std::size_t n = 1;
  for (std::int64_t extent : shape)
    n *= static_cast<std::size_t>(extent);
  return n;
}

/// What a block may hold: values of every size, and of one size with amax near what the rules
/// decide on.
std::vector<float> adversarialValues(std::size_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(n);
  float scale = 1;
  for (std::size_t i = 0; i < n; ++i) {
    if (i % 97 == 0)
      scale = std::bit_cast<float>(static_cast<std::uint32_t>(random() % 0x7F800000));
    const auto bits = static_cast<std::uint32_t>(random());
    switch (i % 97 < 3 ? 0 : i / 97 % 5) {
    case 0: // every exponent
      values[i] = std::bit_cast<float>(bits % 0xFF000000u % 0x7F800000u | (bits & 0x80000000u));
      break;
    case 1: { // around a power of two times the edges of the rules, with neighbours
      constexpr float kEdges[] = {1.0f, 1.5f, 1.75f, 1.875f, 1.9375f, 1.96875f, 1.984375f};
      const auto edge = std::bit_cast<std::uint32_t>(kEdges[bits % 7]);
      const float value = std::bit_cast<float>(edge + bits / 7 % 3 - 1) * scale;
      values[i] = std::isfinite(value) ? value : 0;
      break;
    }
    case 2:
      values[i] = bits % 2 ? 0.0f : -0.0f;
      break;
    case 3: // subnormals
      values[i] = std::bit_cast<float>(bits & 0x807FFFFF);
      break;
    default:
      values[i] = static_cast<float>(static_cast<std::int32_t>(bits)) * 1e-9f;
    }
  }
  return values;
}

std::vector<std::uint32_t> randomNumbers(std::size_t n) {
  std::mt19937 random(11);
  std::vector<std::uint32_t> numbers(n);
  for (std::uint32_t& number : numbers)
    number = static_cast<std::uint32_t>(random());
  return numbers;
}

/// The types that values may come in.
const std::array<const ElementFormat*, 3> kInputs = {
    &format::element("f32"), &format::element("bf16"), &format::element("f16")};

/// The values rounded to a type, those that it has no room for left out.
std::vector<float> valuesOf(const ElementFormat& type, std::vector<float> values) {
  for (float& value : values) {
    const bool isFinite = std::isfinite(value);
    value = static_cast<float>(numerics::round(type, value));
    if (isFinite && !std::isfinite(value))
      value = 1;
  }
  return values;
}

class QuantizeKernels : public OnEachIsa {
protected:
  void expectAsNumerics(const std::vector<float>& values, const Shape& shape,
                        const ScaledType& type, const QuantizeOptions& options,
                        const std::string& what, std::initializer_list<int> threads = {1}) {
    std::vector<std::uint32_t> random;
    if (options.rounding == Rounding::Stochastic)
      random = randomNumbers(values.size());
    const auto expected = numerics::quantize(values, shape, type, options, random);
    for (int number : threads)
      expectAs(expected, values, shape, type, options, random,
               what + ", threads: " + std::to_string(number), number);
  }

  void expectAs(const numerics::QuantizeResult& expected, const std::vector<float>& values,
                const Shape& shape, const ScaledType& type, const QuantizeOptions& options,
                const std::vector<std::uint32_t>& random, const std::string& what, int threads) {
    const std::size_t blocks = sizeOf(format::scaleShape(shape, type.block));
    const auto bytes = static_cast<std::size_t>(type.scale->bytes());
    std::vector<std::uint8_t> codes(values.size() + 64, 0xAA), scales(blocks * bytes + 64, 0xAA);
    const QuantizeReport report = quantize(values.data(), shape, type, options, codes.data(),
                                           scales.data(), random, execution(threads));
    ASSERT_EQ(report.refused.has_value(), expected.refused.has_value()) << what;
    if (report.refused) {
      EXPECT_EQ(report.refused->index, expected.refused->index) << what;
      return;
    }
    EXPECT_EQ(report.nonFinite, expected.nonFinite) << what;
    EXPECT_EQ(report.outer, expected.tensor.outer) << what;
    EXPECT_EQ(report.outerInverse, expected.outerInverse) << what;
    int reported = 0;
    for (std::size_t b = 0; b < blocks && reported < 3; ++b) {
      std::uint32_t code = 0;
      std::memcpy(&code, scales.data() + b * bytes, bytes);
      if (code != expected.tensor.scales[b]) {
        ++reported;
        ADD_FAILURE() << what << ": scale " << b << " is " << code << ", expected "
                      << expected.tensor.scales[b];
      }
    }
    for (std::size_t i = 0; i < values.size() && reported < 3; ++i)
      if (codes[i] != expected.tensor.elements[i]) {
        ++reported;
        ADD_FAILURE() << what << ": " << std::hexfloat << values[i] << " (" << std::dec << i
                      << ") is " << int(codes[i]) << ", expected "
                      << int(expected.tensor.elements[i]);
      }
    for (std::size_t i = values.size(); i < codes.size(); ++i)
      ASSERT_EQ(codes[i], 0xAA) << what << ": written beyond the end";
    for (std::size_t i = blocks * bytes; i < scales.size(); ++i)
      ASSERT_EQ(scales[i], 0xAA) << what << ": scales written beyond the end";
  }

  static ScaledType typeOf(const format::ScaledFormat& row, const Shape& shape, int contracted) {
    return {row.element, row.scale, format::blockShape(row, shape, contracted), row.hasOuterScale};
  }

  static std::string describe(const format::ScaledFormat& row, const Shape& shape, int axis,
                              const QuantizeOptions& options) {
    std::string text = std::string(row.name) + " [";
    for (std::int64_t extent : shape)
      text += std::to_string(extent) + " ";
    return text + "] axis " + std::to_string(axis) + " " +
           std::string(format::scaleRuleName(options.rule)) + " " +
           std::string(numerics::roundingName(options.rounding)) + " " +
           std::string(numerics::overflowName(options.overflow)) + " " +
           std::string(numerics::nonFiniteName(options.nonFinite));
  }
};
OCTAVO_ON_EACH_ISA(QuantizeKernels);

TEST_P(QuantizeKernels, EveryFormatAndRule) {
  const Shape shape{40, 256};
  const std::vector<float> values = adversarialValues(sizeOf(shape), 1);
  for (const format::ScaledFormat& row : kScaledFormats)
    for (const auto& rule : kScaleRules)
      for (Overflow overflow : {Overflow::Saturate, Overflow::Special})
        for (int axis : {0, 1}) {
          const QuantizeOptions options{.rule = rule.rule, .overflow = overflow};
          expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                           describe(row, shape, axis, options));
        }
}

/// Values of ordinary size, whose blocks and outer scales are of ordinary size too: extremes among
/// the values would keep the kernels from what they do with those.
TEST_P(QuantizeKernels, OrdinaryValues) {
  std::mt19937 random(21);
  std::normal_distribution<float> normal;
  for (const Shape& shape : {Shape{96, 160}, Shape{21, 77}})
    for (const format::ScaledFormat& row : kScaledFormats)
      for (int exponent : {-30, -3, 0, 1, 20}) {
        std::vector<float> values(sizeOf(shape));
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = std::ldexp(normal(random), exponent - static_cast<int>(i / 16 % 14));
        for (int axis : {0, 1}) {
          const QuantizeOptions options{.rule = row.rule};
          expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                           describe(row, shape, axis, options));
        }
      }
}

/// Products of ties of E2M1 with scale times outer scale, and their neighbours: where a quotient
/// that is not the rounded one would be taken for another side of the tie.
TEST_P(QuantizeKernels, TiesUnderTwoScales) {
  constexpr float kTies[] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};
  const format::ScaledFormat* row = format::findScaledFormat("nvfp4");
  constexpr std::int64_t kBlocks = 1024; // more steps with ties than a kernel puts off
  const Shape shape{kBlocks, 16};
  const ScaledType type = typeOf(*row, shape, 1);
  const QuantizeOptions options{.rule = row->rule};
  std::mt19937 random(31);
  std::uniform_real_distribution<float> uniform(1.0f, 2.0f);
  for (int round = 0; round < 40; ++round) {
    std::vector<float> values(sizeOf(shape), 0.0f);
    const float greatest = std::ldexp(round % 2 ? 1.0f : uniform(random), round % 40 - 20);
    for (std::size_t block = 0; block < kBlocks; ++block)
      values[block * 16] =
          block == 0 ? greatest : std::ldexp(greatest * uniform(random), -1 - int(block % 12));
    const auto scales = numerics::quantize(values, shape, type, options).tensor;
    for (std::size_t block = 0; block < kBlocks; ++block) {
      const float divisor =
          static_cast<float>(numerics::decode(*row->scale, scales.scales[block])) * scales.outer;
      for (std::size_t i = 1; i < 16; ++i) {
        const float tie = kTies[(i + block) % 7] * divisor;
        const float side = i % 3 == 0 ? tie : std::nextafter(tie, i % 3 == 1 ? 0.0f : 1e30f);
        if (side < values[block * 16])
          values[block * 16 + i] = (i + block) % 2 ? side : -side;
      }
    }
    expectAsNumerics(values, shape, type, options, "round " + std::to_string(round));
    const Shape turned{16, kBlocks};
    std::vector<float> columns(values.size());
    for (std::size_t block = 0; block < kBlocks; ++block)
      for (std::size_t i = 0; i < 16; ++i)
        columns[i * kBlocks + block] = values[block * 16 + i];
    expectAsNumerics(columns, turned, typeOf(*row, turned, 0), options,
                     "first axis, round " + std::to_string(round));
  }
}

TEST_P(QuantizeKernels, EveryRounding) {
  const Shape shape{33, 160};
  const std::vector<float> values = adversarialValues(sizeOf(shape), 2);
  for (const format::ScaledFormat& row : kScaledFormats)
    for (Rounding rounding :
         {Rounding::TiesToAway, Rounding::TiesTowardZero, Rounding::TowardZero,
          Rounding::TowardPositive, Rounding::TowardNegative, Rounding::Stochastic})
      for (Overflow overflow : {Overflow::Saturate, Overflow::Special})
        for (int axis : {0, 1})
          for (Int8Range int8 : {Int8Range::Symmetric, Int8Range::Full}) {
            if (int8 == Int8Range::Full && !row.element->isInteger())
              continue;
            const QuantizeOptions options{
                .rule = row.rule, .rounding = rounding, .overflow = overflow, .int8 = int8};
            expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                             describe(row, shape, axis, options));
          }
}

TEST_P(QuantizeKernels, ShapesAndAxes) {
  for (const Shape& shape :
       {Shape{}, Shape{1}, Shape{31}, Shape{33}, Shape{1000}, Shape{3, 1}, Shape{1, 47},
        Shape{5, 100}, Shape{67, 3}, Shape{64, 64}, Shape{2, 33, 70}, Shape{3, 130, 5},
        Shape{2, 3, 40, 17}, Shape{70, 27}, Shape{129, 257}, Shape{0, 5}}) {
    const std::vector<float> values = adversarialValues(sizeOf(shape), 3);
    for (const format::ScaledFormat& row : kScaledFormats)
      for (int axis = 0; axis < std::max<int>(1, static_cast<int>(shape.size())); ++axis) {
        if (shape.empty() && axis == 0 && row.across > 1)
          continue;
        const ScaledType type{row.element, row.scale,
                              shape.empty() ? Shape{} : format::blockShape(row, shape, axis),
                              row.hasOuterScale};
        const QuantizeOptions options{.rule = row.rule};
        expectAsNumerics(values, shape, type, options, describe(row, shape, axis, options));
      }
  }
}

TEST_P(QuantizeKernels, UnusualBlocksAndScales) {
  const Shape shape{12, 30, 44};
  const std::vector<float> values = adversarialValues(sizeOf(shape), 4);
  for (const Shape& block :
       {Shape{1, 1, 1}, Shape{1, 1, 3}, Shape{2, 5, 7}, Shape{1, 1, 64}, Shape{12, 1, 1},
        Shape{5, 30, 44}, Shape{1, 7, 1}, Shape{1, 9, 5}, Shape{1, 16, 12}, Shape{100, 100, 100}})
    for (const char* scale : {"e8m0fnu", "e4m3fn", "e5m2", "e4m3fnuz", "f32", "bf16"})
      for (bool outer : {false, true}) {
        const ElementFormat* format = format::findElementFormat(scale);
        if (outer && !format->isNarrow())
          continue;
        for (const char* element : {"e5m2fnuz", "e2m1fn", "int8"})
          expectAsNumerics(values, shape,
                           {format::findElementFormat(element), format, block, outer},
                           {.rule = format::ScaleRule::Even},
                           std::string(element) + " on " + scale + (outer ? " outer" : "") +
                               " block " + std::to_string(block[0]) + " " +
                               std::to_string(block[1]) + " " + std::to_string(block[2]));
      }
}

/// Rows longer than a strip's, and than a panel's where blocks have 128 rows; one strip may be
/// unlike the others, and looks at nothing ahead.
TEST_P(QuantizeKernels, PanelsOfSeveralStrips) {
  std::mt19937 random(22);
  std::normal_distribution<float> normal;
  for (const Shape& block : {Shape{16, 1}, Shape{128, 1}, Shape{16, 100}, Shape{10, 1}})
    for (bool hasNan : {false, true}) {
      // Of blocks of 100 columns the last strip has 90, and zeros beyond a piece of memory of 2^14.
      const std::int64_t columns = block[1] == 1 ? 2200 : 4090;
      const Shape shape{block[0] * 9 / 2, columns};
      std::vector<float> values(sizeOf(shape));
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = std::ldexp(normal(random), static_cast<int>(i / 7 % 14));
      if (hasNan)
        values[static_cast<std::size_t>(block[0] * columns + 1500)] = std::nanf("");
      for (const char* scale : {"e8m0fnu", "e4m3fn"})
        expectAsNumerics(
            values, shape,
            {format::findElementFormat("e2m1fn"), format::findElementFormat(scale), block, false},
            {.rule = format::ScaleRule::Even, .nonFinite = NonFinite::Propagate},
            std::string(scale) + " block " + std::to_string(block[0]) + " " +
                std::to_string(block[1]) + (hasNan ? " NaN" : ""),
            {1, 2});
    }
}

TEST_P(QuantizeKernels, NonFiniteValues) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const format::ScaledFormat& row : kScaledFormats)
    for (const auto& [shape, axis] :
         {std::pair(Shape{70, 150}, 0), std::pair(Shape{70, 150}, 1), std::pair(Shape{420, 25}, 1)})
      for (NonFinite policy : {NonFinite::Error, NonFinite::Propagate, NonFinite::Saturate})
        for (Rounding rounding : {Rounding::TiesToEven, Rounding::TowardZero})
          for (Overflow overflow : {Overflow::Saturate, Overflow::Special}) {
            std::vector<float> values = adversarialValues(sizeOf(shape), 5);
            values[37] = kInf;
            values[5000] = -kInf;
            values[5003] = kNan;
            values[9001] = -kNan;
            values[sizeOf(shape) - 1] = -kInf;
            const QuantizeOptions options{
                .rule = row.rule, .rounding = rounding, .overflow = overflow, .nonFinite = policy};
            expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                             describe(row, shape, axis, options));
          }
}

/// One block that is not as the others, at the edges of every set's vectors: sets ask of all lanes
/// at once whether the quick way will do.
TEST_P(QuantizeKernels, OneBlockUnlikeTheOthers) {
  const Shape shape{32, 64};
  for (const numerics::Preset& preset : numerics::presets())
    for (const format::ScaledFormat& row : kScaledFormats) {
      if (!preset.appliesTo(row) || row.across != 1 || row.along > 32)
        continue;
      for (int axis : {0, 1})
        for (std::size_t place : {0, 3, 4, 7, 8, 15})
          for (float size : {0.0f, 0x1p-149f, 0x1p-120f, 0x1p124f, 0x1.fffffep127f}) {
            std::vector<float> values(sizeOf(shape));
            for (std::size_t i = 0; i < values.size(); ++i)
              values[i] = 1.0f + static_cast<float>(i % 13) * 0.125f;
            const auto along = static_cast<std::size_t>(row.along);
            for (std::size_t k = 0; k < along; ++k)
              values[axis == 0 ? k * 64 + place : place * along + k] = k % 3 ? size : -size;
            expectAsNumerics(values, shape, typeOf(row, shape, axis), preset.options,
                             std::string(preset.name) + " " +
                                 describe(row, shape, axis, preset.options));
          }
    }
}

/// With and without NaN and Inf in f32; where the input's type matters, in the others too.
std::vector<std::pair<const ElementFormat*, bool>> inputsOf(const numerics::Preset& preset) {
  std::vector<std::pair<const ElementFormat*, bool>> inputs{{kInputs[0], true},
                                                            {kInputs[0], false}};
  if (preset.options.inInputType != numerics::InputArithmetic{})
    inputs.insert(inputs.end(), {{kInputs[1], true}, {kInputs[1], false}, {kInputs[2], true}});
  return inputs;
}

/// Every preset for every format that it applies to, along both axes, with every kind of block.
TEST_P(QuantizeKernels, EveryPreset) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Shape shape{160, 136};
  for (const numerics::Preset& preset : numerics::presets())
    for (const format::ScaledFormat& row : kScaledFormats) {
      if (!preset.appliesTo(row))
        continue;
      for (int axis : {0, 1})
        for (auto [input, isFinite] : inputsOf(preset)) {
          if (!isFinite && preset.options.nonFinite == NonFinite::Error)
            continue;
          QuantizeOptions options = preset.options;
          options.input = input;
          std::vector<float> values = adversarialValues(sizeOf(shape), 8);
          // Whole blocks of zeros of both signs, of the smallest values and of the largest.
          for (std::size_t i = 0; i < values.size(); ++i) {
            if (i / 136 < 32)
              values[i] = i % 3 ? -0.0f : 0.0f;
            if (i / 136 >= 128 && i % 136 < 64)
              values[i] = std::numeric_limits<float>::max() * (i % 5 ? 0.25f : -1.0f);
            if (i / 136 >= 128 && i % 136 >= 64 && i % 136 < 128)
              values[i] = (i % 2 ? 1 : -1) * 0x1p-149f * static_cast<float>(i % 7);
          }
          if (!isFinite)
            for (std::size_t i = 0; i < values.size(); i += 1 + i % 1009)
              values[i] = i % 3 == 0 ? kNan : i % 3 == 1 ? kInf : -kInf;
          values = valuesOf(*input, values);
          expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                           std::string(preset.name) + " of " + std::string(input->name) + " " +
                               describe(row, shape, axis, options));
        }
    }
}

/// Settings in combinations that no owner has; values are of the input's type or not.
TEST_P(QuantizeKernels, AnySettings) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Shape shape{48, 80};
  std::mt19937 random(9);
  auto pick = [&](auto last) {
    return static_cast<decltype(last)>(random() % (static_cast<unsigned>(last) + 1));
  };
  for (int round = 0; round < 300; ++round) {
    const format::ScaledFormat& row = kScaledFormats[random() % kScaledFormats.size()];
    const auto corner = [&]() -> std::optional<numerics::GivenScale> {
      if (random() % 3 != 0)
        return std::nullopt;
      if (row.scale->isNarrow()) {
        const auto code = static_cast<std::uint32_t>(random() % 256);
        return numerics::GivenScale{static_cast<float>(
            numerics::decode(*row.scale, row.scale->isSigned() ? code % 128 : code))};
      }
      return numerics::GivenScale{static_cast<float>(random() % 1000) * 0x1p-20f};
    };
    const auto coin = [&] { return random() % 2 == 0; };
    QuantizeOptions options{
        .rule = kScaleRules[random() % kScaleRules.size()].rule,
        .rounding = pick(Rounding::Stochastic),
        .overflow = pick(Overflow::Special),
        .nonFinite = pick(NonFinite::SkipNan),
        .int8 = pick(Int8Range::Full),
        .corners = {.zero = corner(),
                    .nan = corner(),
                    .infinite = corner(),
                    .pastRange = corner(),
                    .underflow = corner(),
                    .least = corner(),
                    .inputEpsilon = *row.scale == format::element("f32") && random() % 4 == 0},
        .leastAmax = random() % 2 ? 0 : std::ldexp(1.0f, -static_cast<int>(random() % 149)),
        .ratio = pick(numerics::BlockRatio::Inverted),
        .exponent = pick(numerics::ExponentForm::Log2),
        .outer = pick(numerics::OuterForm::One),
        .quotient = pick(numerics::QuotientForm::TimesInverted),
        .zeroSign = pick(numerics::ZeroSign::PositiveRounded),
        .inInputType = {.outer = coin(), .ratio = coin(), .quotient = coin()},
        .input = kInputs[random() % kInputs.size()]};
    if (random() % 2)
      options.evenBits = static_cast<std::uint8_t>(random() % 4);
    if (row.hasScaleOfTensor() && coin())
      options.amax = std::ldexp(1.0f, static_cast<int>(random() % 270) - 145);
    if (*row.scale == format::element("f32"))
      options.scaleValues = pick(numerics::ScaleValues::PowersOfTwo);
    std::vector<float> values = adversarialValues(sizeOf(shape), 10 + round);
    if (coin())
      values = valuesOf(*options.input, values);
    if (round % 2)
      for (std::size_t i = 0; i < values.size(); i += 1 + i % 509)
        values[i] = i % 3 == 0 ? kNan : i % 3 == 1 ? kInf : -kInf;
    for (int axis : {0, 1})
      expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                       "round " + std::to_string(round) + " " +
                           describe(row, shape, axis, options));
    if (HasFailure())
      return;
  }
}

/// A stream gives the codes of its numbers, for any blocks, axis and number of threads.
TEST_P(QuantizeKernels, ASeedGivesTheCodesOfItsNumbers) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 7);
  const numerics::RandomStream stream{.seed = 0x123456789, .stream = 3};
  for (const Shape& shape : {Shape{34, 2100}, Shape{3, 33, 70}, Shape{9000}, Shape{0, 4}}) {
    const std::vector<float> values = adversarialValues(sizeOf(shape), 12);
    std::vector<std::uint32_t> numbers(values.size());
    stream.fill(0, numbers);
    for (const format::ScaledFormat& row : kScaledFormats)
      for (int axis = 0; axis < static_cast<int>(shape.size()); ++axis) {
        const ScaledType type = typeOf(row, shape, axis);
        const QuantizeOptions options{.rule = row.rule, .rounding = Rounding::Stochastic};
        const auto expected = numerics::quantize(values, shape, type, options, numbers).tensor;
        for (int threads : {1, 2, 3, 7}) {
          std::vector<std::uint8_t> codes(values.size()), scales(expected.scales.size() * 4);
          quantizeSeeded(values.data(), shape, type, options, codes.data(), scales.data(), stream,
                         execution(threads));
          ASSERT_EQ(codes, expected.elements)
              << describe(row, shape, axis, options) << " " << threads << " threads";
        }
      }
  }
}

TEST_P(QuantizeKernels, ThreadsGiveTheSameBits) {
  const tbb::global_control allow(tbb::global_control::max_allowed_parallelism, 7);
  const Shape shape{513, 1088};
  const std::vector<float> values = adversarialValues(sizeOf(shape), 6);
  for (const char* name : {"mxfp4", "nvfp4", "fp8_tensor", "fp8_block"})
    for (int axis : {0, 1}) {
      const format::ScaledFormat& row = *format::findScaledFormat(name);
      const QuantizeOptions options{.rule = row.rule};
      expectAsNumerics(values, shape, typeOf(row, shape, axis), options,
                       describe(row, shape, axis, options), {1, 2, 3, 7});
    }
}

TEST_P(QuantizeKernels, PiecesHaveTheCodesOfTheWhole) {
  const Shape shape{101, 256};
  const std::vector<float> values = adversarialValues(sizeOf(shape), 8);
  for (const char* name : {"nvfp4", "fp8_tensor"}) {
    const format::ScaledFormat& row = *format::findScaledFormat(name);
    for (const ElementFormat* scale : {row.scale, &format::element("bf16")}) {
      ScaledType type = typeOf(row, shape, 1);
      type.scale = scale;
      const QuantizeOptions options{.rule = row.rule};
      const auto expected = numerics::quantize(values, shape, type, options).tensor;
      float amax = 0;
      for (float value : values)
        amax = std::max(amax, std::fabs(value));
      for (std::int64_t begin = 0; begin < shape[0]; begin += 7) {
        const Shape piece{std::min<std::int64_t>(7, shape[0] - begin), shape[1]};
        ScaledType pieceType = type;
        pieceType.block[0] = std::min(type.block[0], piece[0]);
        const auto at = static_cast<std::size_t>(begin * shape[1]);
        const std::size_t blocks = sizeOf(format::scaleShape(piece, pieceType.block));
        std::vector<std::uint8_t> codes(sizeOf(piece)), scales(blocks * scale->bytes());
        const QuantizeReport report =
            quantizePiece(values.data() + at, piece, pieceType, options, amax, codes.data(),
                          scales.data(), {.isa = GetParam(), .threads = 1});
        EXPECT_EQ(report.outer, expected.outer);
        ASSERT_TRUE(std::equal(codes.begin(), codes.end(), expected.elements.begin() + at))
            << name << " from row " << begin;
        const std::size_t firstBlock = blocks == 1 ? 0 : at / type.block[1];
        for (std::size_t i = 0; i < blocks; ++i) {
          std::uint32_t code = 0;
          std::memcpy(&code, scales.data() + i * scale->bytes(), scale->bytes());
          ASSERT_EQ(code, expected.scales[firstBlock + i]) << name << " from row " << begin;
        }
      }
    }
  }
}

/// Under a given amax the rows of a tensor need one another no more, where its scale does not
/// depend on NaN and Inf.
TEST_P(QuantizeKernels, RowsUnderAGivenAmax) {
  const Shape shape{31, 256};
  std::vector<float> values = adversarialValues(sizeOf(shape), 13);
  for (const char* name : {"nvfp4", "fp8_tensor", "fp8_e5m2_tensor"})
    for (const float amax : {0.0f, 0x1p-140f, 3.7f, 1e30f}) {
      const format::ScaledFormat& row = *format::findScaledFormat(name);
      const QuantizeOptions options{.rule = row.rule, .amax = amax};
      ASSERT_FALSE(numerics::needsWholeTensor(options, row.hasOuterScale));
      const ScaledType type = typeOf(row, shape, 1);
      const auto whole = numerics::quantize(values, shape, type, options).tensor;
      for (std::int64_t begin = 0; begin < shape[0]; begin += 7) {
        const Shape piece{std::min<std::int64_t>(7, shape[0] - begin), shape[1]};
        const ScaledType pieceType = typeOf(row, piece, 1);
        const auto at = static_cast<std::size_t>(begin * shape[1]);
        const std::size_t blocks = sizeOf(format::scaleShape(piece, pieceType.block));
        std::vector<std::uint8_t> codes(sizeOf(piece)),
            scales(blocks * static_cast<std::size_t>(row.scale->bytes()));
        const QuantizeReport report =
            quantize(values.data() + at, piece, pieceType, options, codes.data(), scales.data(), {},
                     {.isa = GetParam(), .threads = 1});
        EXPECT_EQ(report.outer, whole.outer);
        ASSERT_TRUE(std::equal(codes.begin(), codes.end(), whole.elements.begin() + at))
            << name << " from row " << begin << " under " << amax;
      }
    }
  EXPECT_TRUE(numerics::needsWholeTensor({}, true));
  EXPECT_TRUE(numerics::needsWholeTensor({.nonFinite = NonFinite::Propagate, .amax = 1.0f}, false));
  EXPECT_FALSE(numerics::needsWholeTensor({.nonFinite = NonFinite::Propagate, .amax = 1.0f}, true));
}

/// Streaming stores start when the tensor exceeds the cache; here they are asked for directly, at
/// every misalignment of the codes.
TEST_P(QuantizeKernels, StreamingAtAnyAddress) {
  const ScaledType type{&format::element("e4m3fn"), &format::element("e8m0fnu"), {32}, false};
  const KernelTable& table = kernelTable(GetParam());
  const BlockPlan plan = blockPlan(type, {}, 1.0f);
  for (std::size_t n : {1, 32, 500, 2048, 5000, 20001}) {
    const std::vector<float> values = adversarialValues(n, 7);
    const Shape shape{static_cast<std::int64_t>(n)};
    const auto expected = numerics::quantize(values, shape, type, {}).tensor;
    for (std::size_t offset : {0, 1, 16, 63}) {
      std::vector<std::uint8_t> codes(n + 200, 0xAA), scales(n / 32 + 1);
      auto* aligned = reinterpret_cast<std::uint8_t*>(
          (reinterpret_cast<std::uintptr_t>(codes.data()) + 63) / 64 * 64);
      std::uint8_t* to = aligned + offset;
      ASSERT_EQ(table.quantizeRun(plan, {.values = values.data(),
                                         .n = n,
                                         .block = 32,
                                         .codes = to,
                                         .scales = scales.data(),
                                         .random = nullptr,
                                         .stores = Stores::Streaming}),
                0);
      ASSERT_TRUE(std::equal(expected.elements.begin(), expected.elements.end(), to))
          << n << " at " << offset;
      for (std::uint8_t* p = codes.data(); p < codes.data() + codes.size(); ++p)
        if (p < to || p >= to + n)
          ASSERT_EQ(*p, 0xAA) << n << " at " << offset;
    }
  }
}

/// The inverse of an odd number modulo 2^64.
std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd; // 3 bits are right
  for (int bits = 3; bits < 64; bits *= 2)
    x *= 2 - odd * x;
  return x;
}

struct Division {
  float x, divisor;
};

/// Divisions whose quotient is an f32 next to a tie of at most 8 significant bits, or the tie, by
/// less than 8 / divisor units of an f32's significand: X * 2^k = M * D + d, for M in the middle of
/// the two.
std::vector<Division> divisionsNextToTies() {
  std::vector<Division> found;
  for (std::uint64_t bits = 128; bits < 256; ++bits) // of the significand, trailing zeros too
    for (std::uint64_t side : {0, 1})
      for (int k : {24, 25}) // quotient from 1 up, below 1
        for (int d = -8; d <= 8; ++d) {
          const std::uint64_t tie = bits << 16; // 24 bits
          // The middle between a tie that is a power of two and the f32 below is an octave lower.
          const std::uint64_t middle = side          ? 2 * tie + 1
                                       : bits == 128 ? (std::uint64_t{1} << 25) - 1
                                                     : 2 * tie - 1;
          const std::uint64_t divisor =
              (0 - static_cast<std::uint64_t>(d)) * inverse(middle) % (std::uint64_t{1} << k);
          const std::uint64_t x = (middle * divisor + static_cast<std::uint64_t>(d)) >> k;
          const bool isBelowOne = x < divisor;
          if (divisor >> 23 == 1 && x >> 23 == 1 && isBelowOne == (k == 25))
            found.push_back({static_cast<float>(x), static_cast<float>(divisor)});
        }
  return found;
}

TEST_P(QuantizeKernels, QuotientsNextToTies) {
  const KernelTable& table = kernelTable(GetParam());
  const std::vector<Division> divisions = divisionsNextToTies();
  ASSERT_GT(divisions.size(), 1400u);
  for (const format::ElementFormat& element : format::kElementFormats) {
    if (!element.isNarrow() || element.specials == format::Specials::Scale)
      continue;
    const ScaledType type{&element, &format::element("f32"), {1}, false};
    const BlockPlan plan = blockPlan(type, {}, 1.0f);
    // The octaves in which the format has ties of so many bits.
    for (const Division& division : divisions)
      for (int octave = -20; octave <= 17; ++octave) {
        const float quotient = division.x / division.divisor;
        const float x = std::ldexp(division.x, octave);
        const auto expected = static_cast<std::uint8_t>(
            numerics::convert(element, std::ldexp(quotient, octave),
                              {.overflow = Overflow::Saturate, .nan = numerics::NanCode::Maximum}));
        std::uint8_t code = 0;
        table.quantizeSegment(plan, {.values = &x,
                                     .n = 1,
                                     .scaleCode = 0,
                                     .factor = division.divisor,
                                     .exactly = false,
                                     .codes = &code,
                                     .random = nullptr});
        ASSERT_EQ(int(code), int(expected))
            << element.name << ": " << std::hexfloat << x << " / " << division.divisor;
      }
  }
}

} // namespace
} // namespace octavo::kernels
