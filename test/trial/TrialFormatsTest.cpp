// The trial rows against values worked out by hand: a float of 5 bits, which no standard, library
// or file has, and MX of e3m4, whose elements safetensors has no dtype for.
#include "octavo/Checkpoint/Files/SafetensorsDtype.h"
#include "octavo/Checkpoint/WeightsWriter.h"
#include "octavo/Kernels/Convert.h"
#include "octavo/Kernels/Dequantize.h"
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Kernels/Pack.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Quantize.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Scaled.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace octavo {
namespace {

using format::element;
using format::ElementFormat;
using format::ScaledFormat;

const ElementFormat& kE2m2 = element("e2m2fn");

/// Of codes 0 to 15: zero and three subnormals a quarter apart, then four values an octave from 1.
constexpr float kPositive[] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f, 1.5f, 1.75f,
                               2, 2.5f,  3,    3.5f,  4, 5,     6,    7};

/// The code of the nearest value, the even one of two, found by looking at all.
std::uint8_t nearest(float x) {
  const float magnitude = std::fabs(x);
  int best = 0;
  for (int code = 1; code < 16; ++code) {
    const float nearer = std::fabs(kPositive[code] - magnitude);
    const float before = std::fabs(kPositive[best] - magnitude);
    if (nearer < before || (nearer == before && code % 2 == 0))
      best = code;
  }
  return static_cast<std::uint8_t>(best | (std::signbit(x) ? 16 : 0));
}

/// -9 to 9 in steps of 1/64: between any two values are their midpoint and others.
std::vector<float> grid() {
  std::vector<float> values;
  for (int i = -9 * 64; i <= 9 * 64; ++i)
    values.push_back(static_cast<float>(i) / 64);
  values.push_back(-0.0f);
  return values;
}

TEST(TrialElement, FactsAndValuesOfItsFiveBits) {
  EXPECT_EQ(kE2m2.width(), 5);
  EXPECT_EQ(kE2m2.maxCode(), 0x0Fu);
  EXPECT_EQ(kE2m2.lowestCode(), 0x1Fu);
  EXPECT_EQ(kE2m2.emax(), 2);
  EXPECT_EQ(kE2m2.emin(), 0);
  for (int code = 0; code < 16; ++code) {
    EXPECT_EQ(numerics::decode(kE2m2, code), kPositive[code]);
    EXPECT_EQ(numerics::decode(kE2m2, code | 16), -kPositive[code]);
    EXPECT_TRUE(std::signbit(numerics::decode(kE2m2, code | 16)));
  }
  for (const float x : grid())
    EXPECT_EQ(numerics::convert(kE2m2, x), nearest(x)) << x;
}

class TrialKernels : public kernels::OnEachIsa {
protected:
  /// Codes and scales of a matrix in blocks along its rows, and its values again.
  struct Quantized {
    std::vector<std::uint8_t> codes, scales;
    std::vector<float> values;
  };
  Quantized quantize(const ScaledFormat& format, const std::vector<float>& x, std::int64_t rows) {
    const std::int64_t shape[] = {rows, static_cast<std::int64_t>(x.size()) / rows};
    const numerics::ScaledType type{format.element, format.scale,
                                    format::blockShape(format, shape, 1)};
    Quantized result;
    result.codes.resize(x.size());
    result.scales.resize(numerics::elementCount(format::scaleShape(shape, type.block)));
    result.values.resize(x.size());
    kernels::quantize(x.data(), shape, type, {.rule = format.rule}, result.codes.data(),
                      result.scales.data(), {}, execution());
    kernels::dequantize(result.codes.data(), result.scales.data(), 1, shape, type,
                        result.values.data(), execution());
    return result;
  }
};
using kernels::builtIsas, kernels::isaTestName;
OCTAVO_ON_EACH_ISA(TrialKernels);

TEST_P(TrialKernels, ConvertToTheNearestAndBack) {
  const std::vector<float> x = grid();
  std::vector<std::uint8_t> codes(x.size());
  kernels::convert(kE2m2, {}, kernels::WideType::F32, x.data(), codes.data(), x.size(), {},
                   execution());
  std::vector<float> back(x.size());
  kernels::decode(kE2m2, codes.data(), kernels::WideType::F32, back.data(), x.size(), execution());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(codes[i], nearest(x[i])) << x[i];
    EXPECT_EQ(back[i], std::copysign(kPositive[nearest(x[i]) & 15], x[i])) << x[i];
  }
}

// Eight codes in five bytes, code i in the bits from 5 i on: 00001 00010 00100 01000 10000 11111
// 00000 10101.
TEST_P(TrialKernels, PackFiveBits) {
  const std::vector<std::uint8_t> codes = {1, 2, 4, 8, 16, 31, 0, 21};
  const std::vector<std::uint8_t> bytes = {0x41, 0x10, 0x04, 0x3F, 0xA8};
  std::vector<std::uint8_t> packed(5), unpacked(8);
  kernels::pack(codes.data(), 8, 5, packed.data(), execution());
  EXPECT_EQ(packed, bytes);
  kernels::unpack(bytes.data(), 8, 5, unpacked.data(), execution());
  EXPECT_EQ(unpacked, codes);
}

// OCP MX 6.3. E2M2 has emax 2: amax 7.9 = 1.975 * 2^2 has scale 2^0 and saturates; amax 1.5 has
// scale 2^-2, so that 0.3 is 1.2 and becomes 1.25, -0.1 is -0.4 and becomes -0.5.
TEST_P(TrialKernels, QuantizeFiveBits) {
  std::vector<float> x(64);
  x[0] = 7.9f, x[1] = 2.6f, x[2] = -5.4f, x[3] = 0.2f;
  x[32] = 1.5f, x[33] = 1, x[34] = 0.3f, x[35] = -0.1f;
  const Quantized q = quantize(*format::findScaledFormat("mxfp5_e2m2"), x, 2);
  EXPECT_EQ(q.scales, (std::vector<std::uint8_t>{127, 125}));
  EXPECT_EQ(std::vector(q.values.begin(), q.values.begin() + 5),
            (std::vector<float>{7, 2.5f, -5, 0.25f, 0}));
  EXPECT_EQ(std::vector(q.values.begin() + 32, q.values.begin() + 37),
            (std::vector<float>{1.5f, 1, 0.3125f, -0.125f, 0}));
  EXPECT_EQ(std::vector(q.codes.begin(), q.codes.begin() + 4),
            (std::vector<std::uint8_t>{0x0F, 0x09, 0x1D, 0x01}));
}

// E3M4 has emax 3 and 15.5 for its largest (S.110.1111): amax 15.9 has scale 2^0 and saturates;
// amax 1.5 has scale 2^-3, so that 0.3 is 2.4 and becomes 2.375, an eighth of which is 0.296875.
TEST_P(TrialKernels, QuantizeE3m4) {
  std::vector<float> x(64);
  x[0] = 15.9f, x[1] = 1.03125f, x[2] = -9.2f;
  x[32] = 1.5f, x[33] = 0.3f;
  const Quantized q = quantize(*format::findScaledFormat("mxfp8_e3m4"), x, 2);
  EXPECT_EQ(q.scales, (std::vector<std::uint8_t>{127, 124}));
  EXPECT_EQ(std::vector(q.values.begin(), q.values.begin() + 4),
            (std::vector<float>{15.5f, 1, -9, 0}));
  EXPECT_EQ(std::vector(q.values.begin() + 32, q.values.begin() + 34),
            (std::vector<float>{1.5f, 0.296875f}));
  EXPECT_EQ(q.codes[0], 0x6F);
}

// 32 products of 7 * 0.25 under scales 2^3 and 2^-1 are 56 * 4.
TEST_P(TrialKernels, MultiplyFiveBits) {
  const std::vector<float> a(32, 7 * 8.0f), b(32, 0.25f / 2);
  const ScaledFormat& format = *format::findScaledFormat("mxfp5_e2m2");
  const kernels::OperandFormat operand = kernels::operandFormat(format);
  const auto plan = kernels::productPlan(operand, operand, 32, GetParam());
  ASSERT_TRUE(plan) << plan.error();
  const std::int64_t shape[] = {1, 32};
  const auto packed = [&](const std::vector<float>& x, kernels::Side side) {
    const numerics::ScaledType type{format.element, format.scale, {1, 32}};
    return kernels::pack(numerics::quantize(x, shape, type, {}).tensor, side, *plan, execution());
  };
  std::vector<float> c(1);
  kernels::multiply(*plan, packed(a, kernels::Side::Left), packed(b, kernels::Side::Right), c,
                    execution());
  EXPECT_EQ(c[0], 224);
}

/// No layout of checkpoints has these formats: files have no dtype for their elements, and no
/// producer packs them.
TEST(TrialCheckpoint, EveryLayoutRefusesByName) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "trial-formats-checkpoint";
  std::filesystem::remove_all(folder);
  const std::vector<std::byte> codes(32 * 64), scales(32 * 2);
  for (const char* name : {"mxfp5_e2m2", "mxfp8_e3m4"}) {
    const ScaledFormat& format = *format::findScaledFormat(name);
    EXPECT_EQ(checkpoint::findSafetensorsDtype(numerics::ElementType(*format.element)), nullptr);
    for (const checkpoint::Layout* layout : checkpoint::layouts()) {
      const checkpoint::ScaledWeight weight{"m.weight", {32, 64}, &format, codes, scales};
      const auto written =
          checkpoint::writeCheckpoint(folder, std::span(&weight, 1), {}, *layout, {});
      ASSERT_FALSE(written) << layout->name();
      const std::string message = written.error().message();
      EXPECT_NE(message.find("m.weight"), std::string::npos) << message;
      EXPECT_NE(message.find(name), std::string::npos) << message;
      EXPECT_FALSE(std::filesystem::exists(folder)) << layout->name();
    }
  }
}

} // namespace
} // namespace octavo
