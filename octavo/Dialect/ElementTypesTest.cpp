#include "octavo/Dialect/ElementTypes.h"

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

TEST(ElementTypes, OtherTypesAreNone) {
  mlir::MLIRContext context;
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
                               mlir::ComplexType::get(mlir::Float32Type::get(&context))};
  for (const mlir::Type type : others) {
    EXPECT_EQ(elementFormat(type), nullptr);
    EXPECT_FALSE(elementType(type));
  }
}

} // namespace
} // namespace octavo
