// Element types: kinds, sizes and the names that MLIR gives them (its documentation of complex and
// of !quant.uniform).
#include "octavo/Numerics/ElementType.h"

#include "octavo/Numerics/Tensor.h"

#include <gtest/gtest.h>

#include <complex>

namespace octavo::numerics {
namespace {

using format::element;

QuantizedType perTensor() {
  return {.storage = {8, false},
          .storageMin = -128,
          .storageMax = 127,
          .expressed = &element("f32"),
          .scales = {0.5},
          .zeroPoints = {3},
          .axis = std::nullopt};
}

TEST(ElementType, everyTypeIsOfOneKind) {
  const ElementType types[] = {element("bf16"), IntegerType{4, true}, ComplexType{&element("f32")},
                               perTensor()};
  for (const ElementType& type : types)
    EXPECT_EQ(type.isFloat() + type.isInteger() + type.isComplex() + type.isQuantized(), 1)
        << type.name();
  EXPECT_TRUE(ElementType(IntegerType{1, false}).isBoolean());
  EXPECT_FALSE(ElementType(ComplexType{&element("f64")}).isBoolean());
}

TEST(ElementType, sizesAndNames) {
  const auto expect = [](const ElementType& type, int width, int bytes, const std::string& name) {
    EXPECT_EQ(type.width(), width);
    EXPECT_EQ(type.bytes(), bytes);
    EXPECT_EQ(type.name(), name);
  };
  expect(element("e2m1fn"), 4, 1, "f4E2M1FN");
  expect(IntegerType{2, true}, 2, 1, "ui2");
  expect(IntegerType{64, false}, 64, 8, "i64");
  expect(ComplexType{&element("f32")}, 64, 8, "complex<f32>");
  expect(ComplexType{&element("f64")}, 128, 16, "complex<f64>");
  expect(perTensor(), 8, 1, "!quant.uniform<i8:f32, 0.5:3>");
  QuantizedType perAxis{.storage = {4, true},
                        .storageMin = 1,
                        .storageMax = 14,
                        .expressed = &element("bf16"),
                        .scales = {0.25, 2},
                        .zeroPoints = {0, 7},
                        .axis = 1};
  expect(perAxis, 4, 1, "!quant.uniform<u4<1:14>:bf16:1, {0.25,2:7}>");
}

TEST(ElementType, quantizedTypesAreComparedByWhatTheySay) {
  EXPECT_EQ(ElementType(perTensor()), ElementType(perTensor()));
  QuantizedType other = perTensor();
  other.zeroPoints = {4};
  EXPECT_NE(ElementType(perTensor()), ElementType(other));
  EXPECT_NE(ElementType(perTensor()), ElementType(IntegerType{8, false}));
  EXPECT_NE(ElementType(ComplexType{&element("f32")}), ElementType(ComplexType{&element("f64")}));
  EXPECT_NE(ElementType(ComplexType{&element("f32")}), ElementType(element("f32")));
}

TEST(ElementType, anElementOfSixteenBytes) {
  Tensor tensor = Tensor::zeros(ComplexType{&element("f64")}, {3});
  ASSERT_EQ(tensor.bytes.size(), 48u);
  tensor.as<std::complex<double>>()[1] = {1.5, -2};
  EXPECT_EQ(tensor.as<double>()[2], 1.5);
  EXPECT_EQ(tensor.as<double>()[3], -2);
  const std::span<const std::byte> one = std::as_const(tensor).element(1);
  EXPECT_EQ(one.size(), 16u);
  EXPECT_EQ(one.data(), tensor.bytes.data() + 16);
}

} // namespace
} // namespace octavo::numerics
