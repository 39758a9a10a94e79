#include "octavo/Program/Values/Value.h"

#include <gtest/gtest.h>

namespace octavo::program {
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

TEST(Value, neverGivesLentMemoryAwayToBeWrittenTo) {
  float given[] = {1};
  Value value(Tensor{format::element("f32"),
                     {1},
                     numerics::Bytes::lent(std::as_writable_bytes(std::span(given)), nullptr)});
  Tensor taken = value.takeTensor();
  taken.as<float>()[0] = 2;
  EXPECT_EQ(given[0], 1);
}

TEST(Value, holdsOnToTheLender) {
  auto lender = std::make_shared<float>(1.0f);
  const std::weak_ptr<float> watched = lender;
  const std::span lent(lender.get(), 1);
  {
    Value value(Tensor{format::element("f32"),
                       {1},
                       numerics::Bytes::lent(std::as_writable_bytes(lent), std::move(lender))});
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

} // namespace
} // namespace octavo::program
