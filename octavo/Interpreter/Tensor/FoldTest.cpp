#include "octavo/Interpreter/Tensor/Fold.h"

#include "octavo/Interpreter/Tensor/Arithmetic.h"

#include <gtest/gtest.h>

namespace octavo::interpreter {
namespace {

Tensor tensor(const ElementType& type, std::vector<std::int64_t> shape,
              const std::vector<double>& values) {
  return encodeElements(type.format(), std::move(shape), values);
}

TEST(Fold, floatsAreAddedInF64WhereAnyTypeIsF64) {
  const Tensor input = tensor(kF64, {3}, {0x1p60, -0x1p60, 1.0});
  const Tensor wide = tensor(kF64, {4}, {0x1p1000, 1.0, -0x1p1000, 3.0});
  const Tensor zero = tensor(kF64, {}, {0.0});
  const std::int64_t axis[] = {0};
  EXPECT_EQ(fold<Add>(input, zero, axis, kF32).value().as<float>()[0], 1.0f);
  // 2^1000 + 1 is 2^1000 in f64; in f32 it would be infinite, and the sum NaN.
  EXPECT_EQ(fold<Add>(wide, zero, axis, kF32).value().as<float>()[0], 3.0f);
  // f64 represents 2^24 + 1, f32 does not.
  const Tensor narrow = tensor(kF32, {3}, {0x1p24, 1.0, -0x1p24});
  const Tensor narrowZero = tensor(kF32, {}, {0.0});
  EXPECT_EQ(fold<Add>(narrow, narrowZero, axis, kF64).value().as<double>()[0], 1.0);
  EXPECT_EQ(fold<Add>(narrow, narrowZero, axis, kF32).value().as<float>()[0], 0.0f);
}

} // namespace
} // namespace octavo::interpreter
