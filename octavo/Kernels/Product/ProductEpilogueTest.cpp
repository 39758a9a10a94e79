// The rules P1 to P9 of docs/semantics.md.
#include "octavo/Kernels/OnEachIsa.h"
#include "octavo/Kernels/Product/Product.h"
#include "octavo/Kernels/Product/ProductTestOperands.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

namespace octavo::kernels {
namespace {

class ProductEpilogues : public OnEachIsa {};
OCTAVO_ON_EACH_ISA(ProductEpilogues);

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// The operands of a batch and their plain products.
struct Batch {
  ProductPlan plan;
  std::vector<PackedOperand> left, right;
  std::int64_t rows, columns;
  std::vector<float> sums;

  Batch(const OperandFormat& a, const OperandFormat& b, std::int64_t count, std::int64_t rights,
        std::int64_t m, std::int64_t n, std::int64_t k, const Execution& execution, Random& random)
      : plan(productPlan(a, b, k, execution.isa).value()), rows(m), columns(n) {
    for (std::int64_t i = 0; i < count; ++i)
      left.push_back(pack(drawFinite(a, m, k, random), Side::Left, plan, execution));
    for (std::int64_t i = 0; i < rights; ++i)
      right.push_back(pack(drawFinite(b, n, k, random), Side::Right, plan, execution));
    for (std::int64_t i = 0; i < count; ++i) {
      std::vector<float> c(static_cast<std::size_t>(m * n));
      multiply(plan, left[i], right[rights == 1 ? 0 : i], c, execution);
      sums.insert(sums.end(), c.begin(), c.end());
    }
  }
};

/// P2 to P5 of the activations that are exact, in scalar.
float stated(float sum, const Epilogue& epilogue, std::size_t at, std::size_t column) {
  float value = sum;
  if (epilogue.addend)
    value += epilogue.addend[at];
  if (epilogue.bias)
    value += epilogue.bias[column];
  if (epilogue.activation == Activation::Relu && value < 0)
    value = 0;
  if (epilogue.residual)
    value += epilogue.residual[at];
  return value;
}

struct Case {
  OperandFormat left, right;
  std::int64_t m, n, k;
};
/// Both paths, few rows and many, blocks of rows and columns, sums in pieces of K, odd edges.
std::vector<Case> cases() {
  const OperandFormat fp8 = operandFormat(*format::findScaledFormat("fp8_tensor"));
  return {{mx("e2m1fn"), mx("e2m1fn"), 1, 83, 96},
          {mx("e2m1fn"), mx("e2m1fn"), 201, 275, 1700},
          {nvfp4(), nvfp4(), 6, 33, 70},
          {mx("e4m3fn"), mx("e4m3fn"), 1, 83, 96},
          {mx("e4m3fn"), mx("e4m3fn"), 99, 530, 900},
          {fp8, fp8, 3, 21, 200}};
}

TEST_P(ProductEpilogues, AreTheStatedStepsInTheStatedOrder) {
  Random random(1);
  for (const Case& each : cases()) {
    const Batch batch(each.left, each.right, 1, 1, each.m, each.n, each.k, execution(), random);
    const std::size_t size = batch.sums.size();
    const std::vector<float> addend = normals(size, 20, random),
                             residual = normals(size, 20, random),
                             bias = normals(static_cast<std::size_t>(each.n), 20, random);
    for (int steps = 0; steps < 16; ++steps) {
      Epilogue epilogue;
      epilogue.addend = steps & 1 ? addend.data() : nullptr;
      epilogue.bias = steps & 2 ? bias.data() : nullptr;
      epilogue.activation = steps & 4 ? Activation::Relu : Activation::None;
      epilogue.residual = steps & 8 ? residual.data() : nullptr;
      float amax = -1, wantedAmax = 0;
      epilogue.amax = &amax;
      std::vector<float> wanted(size), c(size, -1.0f);
      for (std::size_t i = 0; i < size; ++i) {
        wanted[i] = stated(batch.sums[i], epilogue, i, i % static_cast<std::size_t>(each.n));
        wantedAmax = std::max(wantedAmax, std::fabs(wanted[i]));
      }
      multiply(batch.plan, batch.left, batch.right, c.data(), epilogue, execution());
      ASSERT_EQ(bitsOf(c), bitsOf(wanted))
          << each.left.element->name << " " << each.m << " steps " << steps;
      ASSERT_EQ(amax, wantedAmax);
    }
  }
}

TEST_P(ProductEpilogues, AddToTheOutputItself) {
  Random random(2);
  for (const Case& each : cases()) {
    const Batch batch(each.left, each.right, 1, 1, each.m, each.n, each.k, execution(), random);
    const std::vector<float> before = normals(batch.sums.size(), 20, random);
    std::vector<float> sum = before, residual = before, wantedSum, wantedResidual;
    for (std::size_t i = 0; i < before.size(); ++i) {
      wantedSum.push_back(std::max(0.0f, batch.sums[i] + before[i]));
      wantedResidual.push_back(std::max(0.0f, batch.sums[i]) + before[i]);
    }
    multiply(batch.plan, batch.left, batch.right, sum.data(),
             {.addend = sum.data(), .activation = Activation::Relu}, execution());
    multiply(batch.plan, batch.left, batch.right, residual.data(),
             {.activation = Activation::Relu, .residual = residual.data()}, execution());
    ASSERT_EQ(sum, wantedSum);
    ASSERT_EQ(residual, wantedResidual);
  }
}

TEST_P(ProductEpilogues, ConvertToEveryFormatOfTheTable) {
  Random random(3);
  const Case each{mx("e2m1fn"), mx("e2m1fn"), 9, 53, 160};
  const Batch batch(each.left, each.right, 1, 1, each.m, each.n, each.k, execution(), random);
  std::vector<float> bias = normals(static_cast<std::size_t>(each.n), 20, random);
  bias[3] = kInfinity;
  bias[4] = -std::nanf("");
  bias[5] = 0x1p-120f;
  for (const format::ElementFormat& format : format::kElementFormats) {
    const bool wide = format.name == "bf16" || format.name == "f16";
    if (!format.isNarrow() && !wide)
      continue;
    for (float scale : {1.0f, 0.37f, 64.0f}) {
      if (wide && scale != 1)
        continue;
      float amax = 0;
      std::vector<std::uint8_t> codes(batch.sums.size() * static_cast<std::size_t>(format.bytes()));
      multiply(batch.plan, batch.left, batch.right, codes.data(),
               {.bias = bias.data(), .amax = &amax, .format = &format, .scale = scale},
               execution());
      EXPECT_TRUE(std::isnan(amax)); // P6: of the values, whatever they are stored as
      for (std::size_t i = 0; i < batch.sums.size(); ++i) {
        const float value = batch.sums[i] + bias[i % bias.size()];
        std::uint64_t found = 0;
        std::memcpy(&found, codes.data() + i * format.bytes(), format.bytes());
        const auto overflow = wide ? numerics::Overflow::Special : numerics::Overflow::Saturate;
        ASSERT_EQ(found, numerics::convert(format, value / scale, {.overflow = overflow}))
            << format.name << " scale " << scale << " of " << value;
      }
    }
  }
}

/// Activations in the long double of the C library.
long double exactly(Activation activation, long double x) {
  switch (activation) {
  case Activation::GeluErf:
    return x * 0.5L * std::erfc(-x * 0.70710678118654752440L);
  case Activation::GeluTanh: {
    const long double u = 0.79788456080286535588L * (x + 0.044715L * x * x * x);
    return x / (1 + std::exp(-2 * u)); // (1 + tanh u) / 2, without cancellation
  }
  case Activation::Silu:
    return x / (1 + std::exp(-x));
  default:
    return x;
  }
}

/// P4: half an ulp, and 2^-32 of the value (2^-8 ulp) for what goes before the rounding.
TEST_P(ProductEpilogues, ActivationsAreWithinTheStatedUlps) {
  std::vector<float> inputs;
  Random random(4);
  for (int exponent = -149; exponent < 128; ++exponent)
    for (int i = 0; i < 40; ++i)
      for (float sign : {1.0f, -1.0f})
        inputs.push_back(sign * std::ldexp(1 + (random() >> 8) * 0x1p-24f, exponent));
  for (int i = -8000; i < 4000; ++i) // where the tails leave f32, finely
    inputs.push_back(static_cast<float>(i) * 0.013717f);
  ScaledTensor zeros{.shape = {1, 1},
                     .type = {&format::element("e2m1fn"), &kE8M0, {1, 1}, false},
                     .elements = {0},
                     .scales = {127}};
  const auto plan = productPlan(mx("e2m1fn"), mx("e2m1fn"), 1, GetParam()).value();
  const PackedOperand left = pack(zeros, Side::Left, plan);
  zeros.shape[0] = static_cast<std::int64_t>(inputs.size());
  zeros.elements.assign(inputs.size(), 0);
  zeros.scales.assign(inputs.size(), 127);
  const PackedOperand right = pack(zeros, Side::Right, plan);
  for (Activation activation : {Activation::GeluErf, Activation::GeluTanh, Activation::Silu}) {
    std::vector<float> found(inputs.size());
    multiply(plan, std::span(&left, 1), std::span(&right, 1), found.data(),
             {.bias = inputs.data(), .activation = activation}, execution());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const long double wanted = exactly(activation, inputs[i]);
      const int exponent = std::max(wanted == 0 ? -126 : std::ilogb(wanted), -126);
      const long double ulp = std::ldexp(1.0L, exponent - 23);
      ASSERT_LE(std::fabs(found[i] - wanted), (0.5L + 0x1p-8L) * ulp)
          << static_cast<int>(activation) << " of " << inputs[i] << ": " << found[i];
    }
  }
}

TEST_P(ProductEpilogues, ActivationsOfInfinitiesAreTheirLimits) {
  const float inputs[] = {kInfinity, -kInfinity, std::nanf("")};
  ScaledTensor zeros{.shape = {3, 1},
                     .type = {&format::element("e2m1fn"), &kE8M0, {1, 1}, false},
                     .elements = {0, 0, 0},
                     .scales = {127, 127, 127}};
  const auto plan = productPlan(mx("e2m1fn"), mx("e2m1fn"), 1, GetParam()).value();
  const PackedOperand right = pack(zeros, Side::Right, plan);
  zeros.shape[0] = 1;
  zeros.elements.resize(1);
  zeros.scales.resize(1);
  const PackedOperand left = pack(zeros, Side::Left, plan);
  for (Activation activation :
       {Activation::Relu, Activation::GeluErf, Activation::GeluTanh, Activation::Silu}) {
    float found[3];
    multiply(plan, std::span(&left, 1), std::span(&right, 1), found,
             {.bias = inputs, .activation = activation}, execution());
    EXPECT_EQ(found[0], kInfinity) << static_cast<int>(activation);
    EXPECT_EQ(found[1], 0.0f) << static_cast<int>(activation);
    EXPECT_EQ(std::signbit(found[1]), activation != Activation::Relu);
    EXPECT_TRUE(std::isnan(found[2])) << static_cast<int>(activation);
  }
}

TEST_P(ProductEpilogues, OfABatchAreThoseOfItsProductsForEveryNumberOfThreads) {
  Random random(5);
  for (const Case& each : cases())
    for (std::int64_t rights : {3, 1}) {
      const Batch batch(each.left, each.right, 3, rights, each.m, each.n, each.k, execution(),
                        random);
      const std::size_t size = batch.sums.size();
      const std::vector<float> residual = normals(size, 20, random),
                               bias = normals(static_cast<std::size_t>(3 * each.n), 20, random);
      const auto item = static_cast<std::size_t>(each.m * each.n);
      for (std::int64_t stride : {std::int64_t{0}, each.n}) {
        Epilogue epilogue{.bias = bias.data(),
                          .biasStride = stride,
                          .activation = Activation::Relu,
                          .residual = residual.data()};
        std::vector<float> wanted(size);
        for (std::size_t i = 0; i < size; ++i)
          wanted[i] = stated(batch.sums[i], epilogue, i,
                             i / item * static_cast<std::size_t>(stride) + i % each.n);
        float amax = 0;
        epilogue.amax = &amax;
        for (int threads : {1, 2, 3, 7}) {
          std::vector<float> c(size, -1.0f);
          multiply(batch.plan, batch.left, batch.right, c.data(), epilogue, execution(threads));
          ASSERT_EQ(bitsOf(c), bitsOf(wanted)) << each.m << " threads " << threads;
        }
      }
    }
}

TEST_P(ProductEpilogues, OnSumsInMemoryAreThoseOfTheProduct) {
  Random random(6);
  const Case each{mx("e2m1fn"), mx("e2m1fn"), 19, 53, 160};
  const Batch batch(each.left, each.right, 3, 3, each.m, each.n, each.k, execution(), random);
  const std::size_t size = batch.sums.size();
  const std::vector<float> addend = normals(size, 20, random), residual = normals(size, 20, random),
                           bias = normals(static_cast<std::size_t>(3 * each.n), 20, random);
  for (const format::ElementFormat& format : format::kElementFormats) {
    if (format.name == "f64")
      continue;
    float wantedAmax = 0, amax = 0;
    Epilogue epilogue{.addend = addend.data(),
                      .bias = bias.data(),
                      .biasStride = each.n,
                      .activation = Activation::Silu,
                      .residual = residual.data(),
                      .amax = &wantedAmax,
                      .format = &format,
                      .scale = format.isNarrow() ? 0.37f : 1.0f};
    std::vector<std::uint8_t> wanted(size * static_cast<std::size_t>(format.bytes()));
    multiply(batch.plan, batch.left, batch.right, wanted.data(), epilogue, execution());
    epilogue.amax = &amax;
    for (int threads : {1, 2, 3, 7}) {
      std::vector<float> sums = batch.sums;
      std::vector<std::uint8_t> found(wanted.size());
      void* output = format.name == "f32" ? static_cast<void*>(sums.data()) : found.data();
      finish(sums, 3, each.m, each.n, output, epilogue, execution(threads));
      ASSERT_EQ(std::memcmp(output, wanted.data(), wanted.size()), 0) << format.name;
      ASSERT_EQ(amax, wantedAmax) << format.name;
    }
  }
}

TEST_P(ProductEpilogues, OfNothingWriteNothing) {
  const auto plan = productPlan(mx("e2m1fn"), mx("e2m1fn"), 32, GetParam()).value();
  float amax = -1;
  multiply(plan, std::span<const PackedOperand>{}, std::span<const PackedOperand>{}, nullptr,
           {.amax = &amax}, execution());
  EXPECT_EQ(amax, 0);
  for (const char* element : {"e2m1fn", "e4m3fn"}) {
    const auto ofElement = productPlan(mx(element), mx(element), 32, GetParam()).value();
    const auto packed = [&](std::int64_t rows, Side side) {
      const OperandFormat format = mx(element);
      return pack(ScaledTensor{{rows, 32},
                               {format.element, format.scale, {1, 32}},
                               std::vector<std::uint8_t>(static_cast<std::size_t>(rows * 32)),
                               std::vector<std::uint32_t>(static_cast<std::size_t>(rows), 127)},
                  side, ofElement, execution());
    };
    for (const auto& [rows, columns] : {std::pair(0, 3), std::pair(3, 0), std::pair(0, 0)})
      multiply(ofElement, packed(rows, Side::Left), packed(columns, Side::Right),
               std::span<float>{}, execution());
  }
}

} // namespace
} // namespace octavo::kernels
