#include "octavo/Dialect/ElementTypes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

#include <string>

namespace octavo {
namespace {

std::string spelled(mlir::Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  type.print(out);
  return text;
}

TEST(ElementTypes, EveryFloatRowIsTheTypeThatMlirSpellsSo) {
  mlir::MLIRContext context;
  for (const format::ElementFormat& row : format::kElementFormats) {
    const mlir::Type type = mlirType(&context, row);
    if (row.mlir.empty()) {
      EXPECT_FALSE(type);
      continue;
    }
    EXPECT_EQ(spelled(type), row.mlir);
    if (row.isInteger())
      continue;
    EXPECT_TRUE(llvm::isa<mlir::FloatType>(type));
    EXPECT_EQ(static_cast<int>(type.getIntOrFloatBitWidth()), row.width());
    EXPECT_EQ(elementFormat(type), &row);
    EXPECT_EQ(elementType(type), numerics::ElementType(row));
  }
}

TEST(ElementTypes, IntegersGoBothWays) {
  mlir::MLIRContext context;
  for (const int width : {2, 4, 8, 16, 32, 64})
    for (const bool isUnsigned : {false, true}) {
      const numerics::ElementType type(numerics::IntegerType{width, isUnsigned});
      EXPECT_EQ(spelled(mlirType(&context, type)), type.name());
      EXPECT_EQ(elementType(mlirType(&context, type)), type);
      EXPECT_EQ(elementFormat(mlirType(&context, type)), nullptr);
    }
  const mlir::Type boolean = mlir::IntegerType::get(&context, 1);
  ASSERT_TRUE(elementType(boolean));
  EXPECT_TRUE(elementType(boolean)->isBoolean());
  EXPECT_EQ(mlirType(&context, *elementType(boolean)), boolean);
}

TEST(ElementTypes, ComplexGoesBothWays) {
  mlir::MLIRContext context;
  for (const char* part : {"f32", "f64"}) {
    const mlir::Type type = mlir::parseType("complex<" + std::string(part) + ">", &context);
    ASSERT_TRUE(elementType(type));
    EXPECT_EQ(elementType(type)->name(), spelled(type));
    EXPECT_EQ(mlirType(&context, *elementType(type)), type);
  }
}

TEST(ElementTypes, QuantizedGoesBothWays) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::quant::QuantDialect>();
  const auto read = [&](const char* text) {
    const mlir::Type type = mlir::parseType(text, &context);
    const auto element = elementType(type);
    EXPECT_TRUE(element && element->isQuantized()) << text;
    EXPECT_EQ(mlirType(&context, *element), type) << text;
    return element->quantized();
  };
  const numerics::QuantizedType perTensor = read("!quant.uniform<i8<-127:127>:f32, 0.5:3>");
  EXPECT_EQ(perTensor.storage, (numerics::IntegerType{8, false}));
  EXPECT_EQ(perTensor.storageMin, -127);
  EXPECT_EQ(perTensor.storageMax, 127);
  EXPECT_EQ(perTensor.expressed->name, "f32");
  EXPECT_EQ(perTensor.scales, std::vector<double>{0.5});
  EXPECT_EQ(perTensor.zeroPoints, std::vector<std::int64_t>{3});
  EXPECT_FALSE(perTensor.axis);
  const numerics::QuantizedType perAxis = read("!quant.uniform<u4:bf16:1, {0.25, 2.0:7}>");
  EXPECT_EQ(perAxis.storage, (numerics::IntegerType{4, true}));
  EXPECT_EQ(perAxis.scales, (std::vector<double>{0.25, 2}));
  EXPECT_EQ(perAxis.zeroPoints, (std::vector<std::int64_t>{0, 7}));
  EXPECT_EQ(perAxis.axis, 1);
}

TEST(ElementTypes, OtherTypesAreNone) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::quant::QuantDialect>();
  const mlir::Type others[] = {mlir::Type(),
                               mlir::IndexType::get(&context),
                               mlir::NoneType::get(&context),
                               mlir::Float80Type::get(&context),
                               mlir::Float128Type::get(&context),
                               mlir::FloatTF32Type::get(&context),
                               mlir::IntegerType::get(&context, 3),
                               mlir::IntegerType::get(&context, 128),
                               mlir::IntegerType::get(&context, 8, mlir::IntegerType::Signed),
                               mlir::IntegerType::get(&context, 1, mlir::IntegerType::Unsigned),
                               mlir::ComplexType::get(mlir::Float16Type::get(&context)),
                               mlir::parseType("!quant.any<i8:f32>", &context),
                               mlir::parseType("!quant.uniform<i7:f32, 0.5>", &context)};
  for (const mlir::Type type : others) {
    EXPECT_EQ(elementFormat(type), nullptr);
    EXPECT_FALSE(elementType(type));
  }
}

} // namespace
} // namespace octavo
