// Presets: values derived by hand from their owners' arithmetic, and oracles of a few lines.

#include "octavo/Numerics/Preset.h"

#include "octavo/Numerics/Scaled.h"
#include "octavo/Numerics/TestConstants.h"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace octavo::numerics {
namespace {

const ScaledFormat& scaledFormat(std::string_view name) { return *format::findScaledFormat(name); }

/// One block of `values` in the first preset row of that name for that format.
QuantizeResult quantizeBlock(std::string_view preset, std::string_view formatName,
                             const std::vector<float>& values,
                             const ElementFormat& input = format::element("f32")) {
  const ScaledFormat& format = scaledFormat(formatName);
  const Preset* row = findPreset(preset, format);
  EXPECT_NE(row, nullptr) << preset << " " << formatName;
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(values.size())};
  QuantizeOptions options = row->options;
  options.input = &input;
  return quantize(values, shape, {format.element, format.scale, shape, format.hasOuterScale},
                  options);
}
std::uint32_t scaleOf(std::string_view preset, std::string_view formatName,
                      const std::vector<float>& values) {
  const QuantizeResult result = quantizeBlock(preset, formatName, values);
  EXPECT_FALSE(result.refused) << preset << " " << formatName;
  return result.tensor.scales.at(0);
}
std::uint32_t codeOf(std::string_view preset, std::string_view formatName,
                     const std::vector<float>& values) {
  return quantizeBlock(preset, formatName, values).tensor.elements.at(0);
}
float f32Scale(std::string_view preset, std::string_view formatName,
               const std::vector<float>& values) {
  return std::bit_cast<float>(scaleOf(preset, formatName, values));
}

TEST(PresetTest, FoundByNameAndFormat) {
  EXPECT_EQ(findPreset("torchao-rceil", scaledFormat("mxfp4"))->options.rule, ScaleRule::RoundUp);
  EXPECT_EQ(findPreset("torchao-rceil", scaledFormat("nvfp4")), nullptr);
  EXPECT_EQ(findPreset("torchao", scaledFormat("mxfp4")), nullptr);
  EXPECT_NE(findPreset("modelopt", scaledFormat("mxfp4")),
            findPreset("modelopt", scaledFormat("mxfp8_e4m3")));
  EXPECT_EQ(findPreset("", scaledFormat("mxfp4")), nullptr);
  EXPECT_EQ(
      presetNames(scaledFormat("nvfp4")),
      (std::vector<std::string_view>{"torchao", "torchao-single-level", "transformer-engine",
                                     "compressed-tensors", "modelopt", "jax", "jax-single-level"}));
  EXPECT_EQ(findPreset("quark", *format::findScaledFormat("mxfp4:16")),
            findPreset("quark", scaledFormat("mxfp4")));
}

// amax 150 = 1.171875 * 2^7 in e4m3fn (emax 8, max 448): floor 2^-1; 150 / 448 = 0.33 needs 2^-1;
// ceil 2^0. 470 = 1.836 * 2^8: floor 2^0 saturates; `even` to 3 bits needs 1.9375, to 1 bit 1.75.
TEST(PresetTest, PowersOfTwo) {
  for (auto [preset, byte] : {std::pair{"ocp", 126},
                              {"microxcaling", 126},
                              {"torchao-floor", 126},
                              {"torchao-ceil", 127},
                              {"torchao-even", 126},
                              {"torchao-rceil", 126},
                              {"transformer-engine", 126},
                              {"compressed-tensors", 126},
                              {"quark", 126},
                              {"modelopt", 126},
                              {"xla", 126},
                              {"jax", 126}})
    EXPECT_EQ(scaleOf(preset, "mxfp8_e4m3", {150}), static_cast<std::uint32_t>(byte)) << preset;
  for (auto [preset, byte] : {std::pair{"ocp", 127},
                              {"microxcaling", 127},
                              {"torchao-floor", 127},
                              {"torchao-ceil", 128},
                              {"torchao-even", 127},
                              {"torchao-rceil", 128},
                              {"transformer-engine", 128},
                              {"compressed-tensors", 128},
                              {"quark", 127},
                              {"modelopt", 128},
                              {"xla", 128},
                              {"jax", 128}})
    EXPECT_EQ(scaleOf(preset, "mxfp8_e4m3", {470}), static_cast<std::uint32_t>(byte)) << preset;
}

// 7 = 1.75 * 2^2 in e2m1fn (emax 2, max 6): floor 2^0; `even` to one bit bumps from 1.75 on; 7 / 6
// needs 2^1. 6 = 1.5 * 2^2 is a block at its maximum, which `nearest` and `ceil` bump all the same.
TEST(PresetTest, PowersOfTwoOfFp4) {
  struct Row {
    const char* preset;
    std::uint32_t six, seven;
  };
  for (const Row& row :
       {Row{"ocp", 127, 127}, Row{"microxcaling", 127, 127}, Row{"torchao-floor", 127, 127},
        Row{"torchao-ceil", 128, 128}, Row{"torchao-even", 127, 128},
        Row{"torchao-rceil", 127, 128}, Row{"compressed-tensors", 127, 128}, Row{"quark", 127, 128},
        Row{"modelopt", 127, 128}, Row{"xla", 128, 128}}) {
    EXPECT_EQ(scaleOf(row.preset, "mxfp4", {6}), row.six) << row.preset;
    EXPECT_EQ(scaleOf(row.preset, "mxfp4", {-7}), row.seven) << row.preset;
  }
}

// Outer scales that are no powers of two: each order of f32 operations, worked in f64 and rounded
// by hand after every step.
TEST(PresetTest, OrdersOfArithmetic) {
  const ScaledFormat& nvfp4 = scaledFormat("nvfp4");
  const ScaledType type{nvfp4.element, nvfp4.scale, {1}, true};
  const auto f32 = [](double value) { return static_cast<float>(value); };
  int different = 0;
  for (int i = 1; i < 4000; ++i) {
    const float tensor = f32(1 + i * 0.37);
    // Within an ulp or two of a tie of the scale format: there every rounding counts.
    const double tie = std::ldexp(17 + 2 * (i % 8), i / 8 % 8 - 4);
    const float amax = f32(tensor / 448.0 * tie);
    const auto scale = [&](const char* preset) {
      const QuantizeOptions& options = findPreset(preset, nvfp4)->options;
      const OuterScale outer = outerScale(*nvfp4.element, *nvfp4.scale, tensor, options);
      return blockScale(type, options, {.amax = amax}, outer);
    };
    const auto e4m3 = [&](float ratio) {
      return static_cast<std::uint32_t>(
          convert(*nvfp4.scale, ratio, {.overflow = Overflow::Saturate}));
    };
    const double outer = f32(tensor / 2688.0);
    const double g = f32(2688.0 / tensor);
    const double g2 = f32(f32(1.0 / tensor) * 2688.0);
    const std::uint32_t joint = e4m3(f32(amax / static_cast<double>(f32(6 * outer))));
    const std::uint32_t last = e4m3(f32(f32(amax / 6.0) * g2));
    const std::uint32_t first = e4m3(f32(amax * static_cast<double>(f32(g * f32(1 / 6.0)))));
    EXPECT_EQ(scale("modelopt").code, joint) << i;
    EXPECT_EQ(scale("compressed-tensors").code, last) << i;
    EXPECT_EQ(scale("transformer-engine").code, first) << i;
    EXPECT_EQ(scale("jax").code, e4m3(f32(f32(amax / outer) / 6.0))) << i;
    const double s = decode(*nvfp4.scale, last);
    EXPECT_EQ(scale("compressed-tensors").factor, f32(s / g2)) << i;
    const double t = decode(*nvfp4.scale, first);
    EXPECT_EQ(scale("transformer-engine").factor, f32(1.0 / f32(t * f32(1 / g)))) << i;
    const double u = decode(*nvfp4.scale, scale("torchao").code);
    EXPECT_EQ(scale("torchao").factor, f32(f32(1 / outer) / u)) << i;
    different += last != first || joint != last;
  }
  EXPECT_GT(different, 0); // or the orders could not be told apart here
}

TEST(PresetTest, BlocksOfZeros) {
  for (auto [preset, byte] : {std::pair{"ocp", 0},
                              {"torchao-even", 0},
                              {"transformer-engine", 0},
                              {"compressed-tensors", 0},
                              {"quark", 1},
                              {"modelopt", 0},
                              {"xla", 255},
                              {"jax", 0}})
    EXPECT_EQ(scaleOf(preset, "mxfp8_e4m3", {0, 0}), static_cast<std::uint32_t>(byte)) << preset;
  EXPECT_EQ(codeOf("xla", "mxfp8_e4m3", {-0.0f}), 0u); // codes of a NaN block are 0
}

TEST(PresetTest, NanAndInf) {
  struct Row {
    const char* preset;
    std::uint32_t nan, inf;
  };
  for (const Row& row : {Row{"ocp", 255, 255}, Row{"microxcaling", 255, 255},
                         Row{"torchao-floor", 255, 255}, Row{"torchao-rceil", 255, 255},
                         Row{"transformer-engine", 127, 254}, Row{"compressed-tensors", 0, 127},
                         Row{"quark", 127, 254}, Row{"modelopt", 0, 254}, Row{"xla", 255, 255}}) {
    EXPECT_EQ(scaleOf(row.preset, "mxfp8_e4m3", {kNan, 448}), row.nan) << row.preset;
    EXPECT_EQ(scaleOf(row.preset, "mxfp8_e4m3", {448, -kInf}), row.inf) << row.preset;
  }
  // Where the scale is a number, NaN stays the element's NaN and Inf its largest value.
  EXPECT_EQ(codeOf("transformer-engine", "mxfp8_e4m3", {kNan, 448}), 0x7Fu);
  EXPECT_EQ(codeOf("transformer-engine", "mxfp8_e4m3", {-kInf, 448}), 0xFEu);
  EXPECT_EQ(codeOf("modelopt", "mxfp8_e4m3", {1, kNan}), 0x7Eu); // 1 / 2^-127 saturates
}

TEST(PresetTest, EvenBeyondF32) {
  const float edge = 0x1.9p127f; // 1.5625: stays under every rounding to 1 bit and more
  const float bumped = kMax;     // rounds to 2^128
  for (auto [preset, byte] :
       {std::pair{"torchao-even", 255}, {"quark", 254}, {"compressed-tensors", 127}})
    EXPECT_EQ(scaleOf(preset, "mxfp4", {bumped}), static_cast<std::uint32_t>(byte)) << preset;
  for (const char* preset : {"torchao-even", "quark", "compressed-tensors"})
    EXPECT_EQ(scaleOf(preset, "mxfp4", {edge}), 252u) << preset;
  EXPECT_EQ(scaleOf("torchao-ceil", "mxfp4", {bumped}), 253u);
}

// microxcaling's own golden (mx/tests/test_fp8_e4m3_fix.py): 400 lies between 384 and 416.
TEST(PresetTest, MicroxcalingTiesGoAway) {
  const QuantizeResult result =
      quantizeBlock("microxcaling", "mxfp8_e4m3", {485, 475, 400, -485, -450, 0x1p-6f});
  const ScaledTensor& tensor = result.tensor;
  EXPECT_EQ(dequantize(tensor), (std::vector<float>{448, 448, 416, -448, -448, 0x1p-6f}));
}

// 0.75, 1.75, 3.5 are ties of e2m1; scale 2^0 since 6 is there.
TEST(PresetTest, ModeloptTiesGoTowardZero) {
  const QuantizeResult result =
      quantizeBlock("modelopt", "mxfp4", {0.75f, 1.75f, 3.5f, -2.5f, 5.0f, 0.0f, -0.0f, 6});
  EXPECT_EQ(result.tensor.scales.at(0), 127u);
  EXPECT_EQ(result.tensor.elements,
            (std::vector<std::uint8_t>{1, 3, 5, 8 | 4, 6, 8, 8, 7})); // +0 becomes -0
}

TEST(PresetTest, CompressedTensorsDropsTheSignOfZero) {
  EXPECT_EQ(codeOf("compressed-tensors", "mxfp4", {-0.0f, 6}), 0u);
  EXPECT_EQ(codeOf("compressed-tensors", "mxfp8_e4m3", {-0.0f, 6}), 0x80u);
}

// amax of the tensor 2688: the outer scale is 1, g is 1; a block of amax 3 has scale 0.5.
TEST(PresetTest, Nvfp4Scales) {
  const ScaledFormat& nvfp4 = scaledFormat("nvfp4");
  const std::vector<std::int64_t> shape{6, 1};
  // 2688 / 6 = 448 exactly; 3 / 6 = 0.5; 0; 2^-12 / 6 rounds below 2^-10; 0.04 / 6 = 1.7 * 2^-8
  const std::vector<float> values{2688, 3, 0, 0x1p-12f, 0.04f, -3};
  struct Row {
    const char* preset;
    std::vector<std::uint32_t> scales;
  };
  for (const Row& row : {Row{"torchao", {0x7E, 0x30, 0x08, 0x08, 0x08, 0x30}},
                         Row{"modelopt", {0x7E, 0x30, 0x38, 0x01, 0x03, 0x30}},
                         Row{"compressed-tensors", {0x7E, 0x30, 0x20, 0x20, 0x03, 0x30}},
                         Row{"transformer-engine", {0x7E, 0x30, 0x00, 0x00, 0x03, 0x30}},
                         Row{"jax", {0x7E, 0x30, 0x00, 0x00, 0x03, 0x30}}}) {
    const QuantizeResult result =
        quantize(values, shape, {nvfp4.element, nvfp4.scale, {1, 1}, true},
                 findPreset(row.preset, nvfp4)->options);
    EXPECT_EQ(result.tensor.outer, 1) << row.preset;
    EXPECT_EQ(result.tensor.scales, row.scales) << row.preset;
    EXPECT_EQ(result.tensor.elements[0], 7) << row.preset;
    EXPECT_EQ(result.tensor.elements[1], 7) << row.preset;
    EXPECT_EQ(result.tensor.elements[5], 15) << row.preset;
  }
}

TEST(PresetTest, Nvfp4OuterScale) {
  const ScaledFormat& nvfp4 = scaledFormat("nvfp4");
  const auto outer = [&](const char* preset, float amax) {
    return outerScale(*nvfp4.element, *nvfp4.scale, amax, findPreset(preset, nvfp4)->options);
  };
  // 1 / 7 and its product with 2688 round separately: 2688 / 7 = 384, f32(1/7) > 1/7.
  EXPECT_EQ(outer("transformer-engine", 7.0f).inverse, 384.0f);
  EXPECT_EQ(outer("compressed-tensors", 7.0f).inverse, (1.0f / 7.0f) * 2688.0f);
  EXPECT_EQ(outer("compressed-tensors", 0).inverse, 1);
  EXPECT_EQ(outer("transformer-engine", 0).inverse, 1);
  EXPECT_EQ(outer("transformer-engine", 0x1p-149f).inverse, kMax); // 2688 / 2^-149 leaves f32
  EXPECT_EQ(outer("compressed-tensors", 0x1p-149f).inverse, 1);
  EXPECT_EQ(outer("torchao", 5376).value, 2);
  EXPECT_EQ(outer("modelopt", 0).value, 1);
}

TEST(PresetTest, Float32Scales) {
  EXPECT_EQ(f32Scale("transformer-engine", "fp8_tensor", {224, -1}), 0.5f);
  EXPECT_EQ(f32Scale("transformer-engine", "fp8_tensor", {0}), 1.0f);
  EXPECT_EQ(f32Scale("transformer-engine", "fp8_tensor", {kInf, 1}), 1.0f);
  EXPECT_EQ(f32Scale("transformer-engine", "fp8_tensor", {0x1p-149f}), 1.0f / kMax);
  // 448 / 3 = 149.33 and its inverse are rounded one after the other.
  EXPECT_EQ(f32Scale("transformer-engine", "fp8_tensor", {3}), 1.0f / (448.0f / 3.0f));
  EXPECT_EQ(f32Scale("transformer-engine", "fp8_block", {3}), 0x1p-7f); // 149.33 rounds down to 128
  EXPECT_EQ(codeOf("transformer-engine", "fp8_block", {3}), 0x7Cu);     // and 3 * 128 is 384
  EXPECT_EQ(f32Scale("deepseek-ue8m0", "fp8_group", {3}), 0x1p-7f);
  EXPECT_EQ(f32Scale("deepseek-ue8m0", "fp8_group", {0}), 0x1p-22f); // 1e-4 / 448 = 1.87 * 2^-23
  EXPECT_EQ(f32Scale("compressed-tensors", "fp8_row", {0}), 0x1p-23f);
  EXPECT_EQ(f32Scale("compressed-tensors", "fp8_tensor", {448}), 1);
}

const ElementFormat& kBf16 = format::element("bf16");
const ElementFormat& kF16 = format::element("f16");

// bf16: 3 / 448 = 1.714 * 2^-8 becomes 219 / 128 * 2^-8. 1.015625 over it is 151.96, in bf16 152: a
// tie of e4m3fn, which goes to 160 (0x72). In f32 1.015625 / (3 / 448) = 151.67 becomes 144 (0x71).
TEST(PresetTest, Fp8OfBf16InputIsComputedInBf16) {
  for (const char* preset : {"compressed-tensors", "quark"}) {
    const ScaledTensor bf16 =
        quantizeBlock(preset, "fp8_tensor", {3, 1.015625f, -1.015625f}, kBf16).tensor;
    EXPECT_EQ(std::bit_cast<float>(bf16.scales[0]), 219 * 0x1p-15f) << preset;
    EXPECT_EQ(bf16.elements, (std::vector<std::uint8_t>{0x7E, 0x72, 0xF2})) << preset;
    const ScaledTensor f32 = quantizeBlock(preset, "fp8_tensor", {3, 1.015625f}).tensor;
    EXPECT_EQ(std::bit_cast<float>(f32.scales[0]), 3.0f / 448.0f) << preset;
    EXPECT_EQ(f32.elements[1], 0x71) << preset;
  }
  // ModelOpt divides by the f32 scale of a tensor in bf16, 151.67 becomes 152, and by those of rows
  // in f32.
  const ScaledTensor whole = quantizeBlock("modelopt", "fp8_tensor", {3, 1.015625f}, kBf16).tensor;
  EXPECT_EQ(std::bit_cast<float>(whole.scales[0]), 3.0f / 448.0f);
  EXPECT_EQ(whole.elements[1], 0x72);
  EXPECT_EQ(quantizeBlock("modelopt", "fp8_row", {3, 1.015625f}, kBf16).tensor.elements[1], 0x71);
  EXPECT_EQ(quantizeBlock("modelopt", "fp8_tensor", {3, 1.015625f}).tensor.elements[1], 0x71);
}

TEST(PresetTest, Fp8ScalesOfZeros) {
  const auto scale = [](const char* preset, const ElementFormat& input) {
    return std::bit_cast<float>(
        quantizeBlock(preset, "fp8_row", {0, -0.0f}, input).tensor.scales[0]);
  };
  EXPECT_EQ(scale("compressed-tensors", format::element("f32")), 0x1p-23f);
  EXPECT_EQ(scale("compressed-tensors", kBf16), 0x1p-7f);
  EXPECT_EQ(scale("compressed-tensors", kF16), 0x1p-10f);
  EXPECT_EQ(scale("quark", kBf16), 0x1p-23f);
  EXPECT_EQ(scale("modelopt", kBf16), 1);
  // 2^-17 / 448 is below half of f16's least value.
  EXPECT_EQ(f32Scale("compressed-tensors", "fp8_row", {0x1p-17f}), 0x1p-17f / 448);
  EXPECT_EQ(std::bit_cast<float>(
                quantizeBlock("compressed-tensors", "fp8_row", {0x1p-17f}, kF16).tensor.scales[0]),
            0x1p-10f);
}

// A scale that is given is a value: of bf16 scales, too, in which checkpoints keep it.
TEST(PresetTest, GivenScalesInAnotherScaleFormat) {
  const ScaledType type{&format::element("e4m3fn"), &kBf16, {1}, false};
  const std::vector<std::int64_t> shape{1};
  const auto code = [&](const char* preset) {
    QuantizeOptions options = findPreset(preset, scaledFormat("fp8_row"))->options;
    options.input = &kBf16;
    return quantize(std::vector<float>{0}, shape, type, options).tensor.scales[0];
  };
  EXPECT_EQ(code("compressed-tensors"), 0x3C00u); // 2^-7
  EXPECT_EQ(code("quark"), 0x3400u);              // 2^-23
  EXPECT_EQ(code("modelopt"), 0x3F80u);           // 1
}

// amax 7.5 in bf16: 1 / 7.5 becomes 137 / 1024, times 2688 359.6, which becomes 360. A block of
// amax 3: 0.5 * 360 = 180 is a tie of e4m3fn between 176 and 192; f32's 358.4 makes it 176.
TEST(PresetTest, Nvfp4OfBf16Input) {
  const ScaledFormat& nvfp4 = scaledFormat("nvfp4");
  const std::vector<std::int64_t> shape{2, 1};
  const auto quantized = [&](const ElementFormat& input) {
    QuantizeOptions options = findPreset("compressed-tensors", nvfp4)->options;
    options.input = &input;
    return quantize(std::vector<float>{7.5f, 3.0625f}, shape,
                    {nvfp4.element, nvfp4.scale, {1, 1}, true}, options);
  };
  const QuantizeResult bf16 = quantized(kBf16);
  EXPECT_EQ(bf16.outerInverse, 360);
  EXPECT_EQ(bf16.tensor.outer, 1.0f / 360);
  EXPECT_EQ(bf16.tensor.scales, (std::vector<std::uint32_t>{0x7E, 0x74})); // 1.25 * 360 = 450
  const QuantizeResult f32 = quantized(format::element("f32"));
  EXPECT_EQ(f32.outerInverse, (1.0f / 7.5f) * 2688.0f);
  EXPECT_EQ(f32.tensor.scales, (std::vector<std::uint32_t>{0x7E, 0x73}));
  // f16 ends at 65504: below an amax of 2688 / 65504 there is no divisor but 1.
  QuantizeOptions options = findPreset("compressed-tensors", nvfp4)->options;
  options.input = &kF16;
  EXPECT_EQ(outerScale(*nvfp4.element, *nvfp4.scale, 0.03125f, options).inverse, 1);
  EXPECT_EQ(outerScale(*nvfp4.element, *nvfp4.scale, 0.0625f, options).inverse, 43008);
}

// log2(504) = 8.977, in bf16 9; log2(2^40 (1 + 2^-23)) = 40 + 1.7e-7, in f32 40.
TEST(PresetTest, ExponentsFromLogarithms) {
  const auto scale = [](const char* preset, float amax, const ElementFormat& input) {
    return quantizeBlock(preset, "mxfp8_e4m3", {amax}, input).tensor.scales[0];
  };
  const ElementFormat& f32 = format::element("f32");
  EXPECT_EQ(scale("quark-floor", 504, kBf16), 128u);
  EXPECT_EQ(scale("quark-floor", 500, kBf16), 127u);
  EXPECT_EQ(scale("quark-floor", 504, f32), 127u);
  EXPECT_EQ(scale("quark-ceil", 504, kBf16), 128u);
  EXPECT_EQ(scale("quark-ceil", 512, kBf16), 128u);
  EXPECT_EQ(scale("quark-ceil", 520, kBf16), 128u); // log2 = 9.022, in bf16 9
  EXPECT_EQ(scale("quark-ceil", 520, f32), 129u);
  const float edge = 448 * 0x1.000002p40f;
  EXPECT_EQ(scale("modelopt", edge, f32), 167u);
  EXPECT_EQ(scale("jax", edge, f32), 168u);
  EXPECT_EQ(scale("quark-floor", 0, f32), 104u); // 2^-23
  EXPECT_EQ(scale("quark-ceil", kNan, f32), 127u);
  EXPECT_EQ(scale("quark-ceil", -kInf, f32), 127u);
}

// Of -0.25 and -0.1 over 2^0, e2m1fn keeps the sign of the zero that they round to.
TEST(PresetTest, QuarkWritesNoNegativeZero) {
  for (const char* preset : {"quark", "quark-floor"})
    EXPECT_EQ(quantizeBlock(preset, "mxfp4", {6, -0.25f, -0.1f, -0.0f, -0.3f}).tensor.elements,
              (std::vector<std::uint8_t>{7, 0, 0, 0, 9}))
        << preset;
  EXPECT_EQ(codeOf("quark", "mxfp6_e2m3", {-0.05f, 7}), 0u);
  EXPECT_EQ(codeOf("compressed-tensors", "mxfp4", {-0.1f, 6}), 8u);
  EXPECT_EQ(codeOf("quark", "mxfp8_e4m3", {-0.0f, 7}), 0x80u); // fp8 is torch's cast
}

TEST(PresetTest, OneLevelOfScales) {
  for (const char* preset : {"torchao-single-level", "jax-single-level"}) {
    const QuantizeResult result = quantizeBlock(preset, "nvfp4", {3, -1.5f, 0.75f});
    EXPECT_EQ(result.tensor.outer, 1) << preset;
    EXPECT_EQ(result.tensor.scales[0], 0x30u) << preset; // 0.5
    EXPECT_EQ(result.tensor.elements, (std::vector<std::uint8_t>{7, 13, 3})) << preset;
  }
  EXPECT_EQ(scaleOf("torchao-single-level", "nvfp4", {0x1p-12f}), 0x08u);
  EXPECT_EQ(scaleOf("jax-single-level", "nvfp4", {0x1p-12f}), 0u);
}

// torch rounds amax / max: 671 / 448 = 1.498, 672 / 448 = 1.5. XLA rounds amax / 256. Both go up
// everywhere between 2^-127 and 2^-126.
TEST(PresetTest, ScalesThatAreConverted) {
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {671}), 127u);
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {672}), 128u);
  EXPECT_EQ(scaleOf("torch", "mxfp4", {9}), 128u);
  EXPECT_EQ(scaleOf("torch", "mxfp4", {8.75f}), 127u);
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {0}), 0u);
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {kMax}), 246u); // 2^128 / 448 = 1.14 * 2^119
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {kNan}), 255u);
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {kInf}), 255u);
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {448 * 0x1p-127f}), 0u);
  EXPECT_EQ(scaleOf("torch", "mxfp8_e4m3", {450 * 0x1p-127f}), 1u);
  EXPECT_EQ(scaleOf("xla", "mxfp8_e4m3", {0x1p-119f}), 0u);
  EXPECT_EQ(scaleOf("xla", "mxfp8_e4m3", {0x1.01p-119f}), 1u);
  EXPECT_EQ(scaleOf("xla", "mxfp8_e4m3", {0x1.7p-118f}), 1u);
  EXPECT_EQ(scaleOf("xla", "mxfp8_e4m3", {0x1p-130f}), 0u);
}

// A bias of 6 bits is a scale of 2^(7 - bias), of cfloat8_1_5_2 2^(15 - bias), and byte 127 is 2^0.
// 480 = 1.875 * 2^8 and 114688 = 1.75 * 2^16 are the largest values.
TEST(PresetTest, BiasesOfSixBits) {
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_4_3_tensor", {480}), 127u);
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_4_3_tensor", {481}), 128u);
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_4_3_tensor", {61440}), 127u + 7); // bias 0
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_4_3_tensor", {480 * 0x1p-56f}), 127u + 7 - 63);
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_4_3_tensor", {0x1p-100f}), 127u + 7 - 63);
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_5_2_tensor", {114688}), 127u);
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_5_2_tensor", {114688 * 0x1p15f}), 127u + 15);
  EXPECT_EQ(scaleOf("tesla", "cfloat8_1_5_2_tensor", {0x1p-100f}), 127u + 15 - 63);
  for (const char* format : {"cfloat8_1_4_3_tensor", "cfloat8_1_5_2_tensor"}) {
    EXPECT_EQ(scaleOf("tesla", format, {0, -0.0f}), 127u);
    EXPECT_EQ(scaleOf("tesla", format, {-kInf, 1}), 127u);
    EXPECT_EQ(codeOf("tesla", format, {-kInf, 1}), 0xFFu);
    EXPECT_EQ(codeOf("tesla", format, {kNan, 1}), 0x7Fu);
    EXPECT_EQ(scaleOf("tesla", format, {kNan, 1}), scaleOf("tesla", format, {1}));
  }
}

TEST(PresetTest, SettingsOfEveryRow) {
  for (const Preset& preset : presets())
    for (const ScaledFormat& format : format::kScaledFormats)
      if (preset.appliesTo(format))
        for (const Setting& setting : settings(preset, format))
          EXPECT_FALSE(setting.value.empty()) << preset.name << " " << setting.name;
  const auto rows = settings(*findPreset("quark", scaledFormat("mxfp4")), scaledFormat("mxfp4"));
  const auto value = [&](std::string_view name) {
    for (const Setting& row : rows)
      if (row.name == name)
        return row.value;
    return std::string("(none)");
  };
  EXPECT_EQ(value("rule"), "even");
  EXPECT_EQ(value("zero block"), "0x01 (2^-126)");
  EXPECT_EQ(value("NaN"), "0x7F (2^0)");
  EXPECT_EQ(value("amax past f32"), "0xFE (2^127)");
  EXPECT_EQ(value("zero"), "+0, rounded ones too");
  EXPECT_EQ(value("in input type"), "nothing");
  EXPECT_EQ(value("even to bits"), "1"); // e2m1fn: 1.5 < m < 1.75 saturates
  EXPECT_EQ(value("ragged edge"), "padded with zeros");
}

// act_quant of DeepSeek asserts whole blocks; ModelOpt pads nvfp4; a scale a row is a whole block.
TEST(PresetTest, RefusedEdges) {
  const auto axis = [](std::string_view preset, std::string_view formatName,
                       std::vector<std::int64_t> shape) {
    const ScaledFormat& format = scaledFormat(formatName);
    const auto refused =
        refusedAxis(*findPreset(preset, format), format, shape, static_cast<int>(shape.size()) - 1);
    return refused ? static_cast<int>(refused->axis) : -1;
  };
  EXPECT_EQ(axis("torchao-floor", "mxfp4", {3, 33}), 1);
  EXPECT_EQ(axis("torchao-floor", "mxfp4", {3, 31}), 1);
  EXPECT_EQ(axis("torchao-floor", "mxfp4", {3, 64}), -1);
  EXPECT_EQ(axis("ocp", "mxfp4", {3, 33}), -1);
  EXPECT_EQ(axis("modelopt", "nvfp4", {3, 33}), -1);
  EXPECT_EQ(axis("deepseek-ue8m0", "fp8_group", {129}), 0);
  EXPECT_EQ(axis("compressed-tensors", "fp8_block", {576, 200}), -1); // padded since 0.20
  EXPECT_EQ(axis("compressed-tensors", "fp8_group", {576, 200}), 1);
  EXPECT_EQ(axis("compressed-tensors", "fp8_row", {576, 33}), -1);
  EXPECT_EQ(axis("compressed-tensors", "fp8_tensor", {576, 33}), -1);
}

TEST(PresetTest, ListedOnFormatsOfEqualSettings) {
  std::size_t listed = 0, applies = 0;
  for (const PresetOnFormats& row : presetsOnFormats())
    for (const ScaledFormat* format : row.formats) {
      EXPECT_EQ(findPreset(row.preset->name, *format), row.preset);
      EXPECT_EQ(settings(*row.preset, *format), row.settings)
          << row.preset->name << " " << format->name;
      ++listed;
    }
  for (const ScaledFormat& format : format::kScaledFormats)
    applies += presetNames(format).size();
  EXPECT_EQ(listed, applies);
}

} // namespace
} // namespace octavo::numerics
