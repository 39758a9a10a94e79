#include "octavo/Execution/Value.h"

#include <gtest/gtest.h>

namespace octavo::execution {
namespace {

Tensor counted() {
  Tensor tensor = Tensor::zeros(format::element("f32"), {3});
  for (int i = 0; i < 3; ++i)
    tensor.as<float>()[i] = static_cast<float>(i);
  return tensor;
}

TEST(Value, whatOneHoldsIsTakenWithoutACopy) {
  Value value(counted());
  const std::byte* bytes = value.tensor().bytes.data();
  const Tensor taken = value.takeTensor();
  EXPECT_EQ(taken, counted());
  EXPECT_EQ(taken.bytes.data(), bytes);
  EXPECT_TRUE(value.isToken());
}

TEST(Value, whatIsSharedIsCopied) {
  Value value(counted());
  const Value other = value;
  Tensor taken = value.takeTensor();
  EXPECT_NE(taken.bytes.data(), other.tensor().bytes.data());
  taken.as<float>()[0] = 7;
  EXPECT_EQ(other.tensor(), counted());
}

TEST(Value, aCopyThatIsGoneNoLongerShares) {
  Value value(counted());
  const std::byte* bytes = value.tensor().bytes.data();
  {
    const Value other = value;
  }
  EXPECT_EQ(value.takeTensor().bytes.data(), bytes);
}

TEST(Value, kinds) {
  EXPECT_TRUE(Value().isToken());
  const Value tuple = Value::tuple({Value(counted()), Value()});
  ASSERT_TRUE(tuple.isTuple());
  EXPECT_TRUE(tuple.elements()[0].isTensor());
  EXPECT_TRUE(tuple.elements()[1].isToken());
}

} // namespace
} // namespace octavo::execution
