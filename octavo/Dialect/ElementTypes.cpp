#include "octavo/Dialect/ElementTypes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinTypes.h"

#include <cassert>

namespace octavo {

const format::ElementFormat* elementFormat(mlir::Type type) {
  if (!llvm::isa_and_nonnull<mlir::FloatType>(type))
    return nullptr;
  // A builtin float type is registered as "builtin." and its spelling.
  llvm::StringRef spelling = type.getAbstractType().getName();
  if (!spelling.consume_front("builtin."))
    return nullptr;
  for (const format::ElementFormat& row : format::kElementFormats)
    if (!row.isInteger() && spelling == llvm::StringRef(row.mlir))
      return &row;
  return nullptr;
}

mlir::Type mlirType(mlir::MLIRContext* context, const format::ElementFormat& format) {
  if (format.mlir.empty())
    return {};
  const mlir::Type type = mlir::parseType(format.mlir, context);
  assert(type && "a row's MLIR spelling must name a type");
  return type;
}

std::optional<numerics::ElementType> elementType(mlir::Type type) {
  if (const format::ElementFormat* row = elementFormat(type))
    return numerics::ElementType(*row);
  const auto integer = llvm::dyn_cast_or_null<mlir::IntegerType>(type);
  if (!integer || integer.isSigned())
    return std::nullopt;
  const int width = static_cast<int>(integer.getWidth());
  switch (width) {
  case 1:
    if (integer.isUnsigned())
      return std::nullopt;
    return numerics::ElementType(numerics::IntegerType{1, false});
  case 2:
  case 4:
  case 8:
  case 16:
  case 32:
  case 64:
    return numerics::ElementType(numerics::IntegerType{width, integer.isUnsigned()});
  default:
    return std::nullopt;
  }
}

mlir::Type mlirType(mlir::MLIRContext* context, const numerics::ElementType& type) {
  if (type.isFloat())
    return mlirType(context, type.format());
  const numerics::IntegerType integer = type.integer();
  return mlir::IntegerType::get(context, static_cast<unsigned>(integer.width),
                                integer.isUnsigned ? mlir::IntegerType::Unsigned
                                                   : mlir::IntegerType::Signless);
}

} // namespace octavo
