#include "octavo/Dialect/ElementTypes.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
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

mlir::Type codesType(mlir::MLIRContext* context, const format::ElementFormat& format) {
  const mlir::Type own = mlirType(context, format);
  assert((own || format.width() <= 8) && "codes beyond a byte need an MLIR type");
  return own ? own : mlir::IntegerType::get(context, 8, mlir::IntegerType::Unsigned);
}

namespace {

namespace quant = mlir::quant;
using numerics::ComplexType;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::QuantizedType;

std::optional<ElementType> integerType(mlir::IntegerType integer) {
  if (integer.isSigned())
    return std::nullopt;
  const int width = static_cast<int>(integer.getWidth());
  switch (width) {
  case 1:
    if (integer.isUnsigned())
      return std::nullopt;
    return ElementType(IntegerType{1, false});
  case 2:
  case 4:
  case 8:
  case 16:
  case 32:
  case 64:
    return ElementType(IntegerType{width, integer.isUnsigned()});
  default:
    return std::nullopt;
  }
}

std::optional<ElementType> quantizedType(quant::QuantizedType type) {
  const int width = static_cast<int>(type.getStorageTypeIntegralWidth());
  const format::ElementFormat* expressed = elementFormat(type.getExpressedType());
  const bool isStorage = width == 2 || width == 4 || width == 8 || width == 16 || width == 32;
  if (!isStorage || expressed == nullptr)
    return std::nullopt;
  QuantizedType result{.storage = {width, !type.isSigned()},
                       .storageMin = type.getStorageTypeMin(),
                       .storageMax = type.getStorageTypeMax(),
                       .expressed = expressed,
                       .scales = {},
                       .zeroPoints = {},
                       .axis = std::nullopt};
  if (const auto perTensor = llvm::dyn_cast<quant::UniformQuantizedType>(type)) {
    result.scales = {perTensor.getScale()};
    result.zeroPoints = {perTensor.getZeroPoint()};
  } else if (const auto perAxis = llvm::dyn_cast<quant::UniformQuantizedPerAxisType>(type)) {
    result.scales.assign(perAxis.getScales().begin(), perAxis.getScales().end());
    result.zeroPoints.assign(perAxis.getZeroPoints().begin(), perAxis.getZeroPoints().end());
    result.axis = perAxis.getQuantizedDimension();
  } else {
    return std::nullopt;
  }
  return ElementType(std::move(result));
}

mlir::Type quantizedType(mlir::MLIRContext* context, const QuantizedType& type) {
  const unsigned flags = type.storage.isUnsigned ? 0 : quant::QuantizationFlags::Signed;
  const mlir::Type storage =
      mlir::IntegerType::get(context, static_cast<unsigned>(type.storage.width));
  const mlir::Type expressed = mlirType(context, *type.expressed);
  if (!type.axis)
    return quant::UniformQuantizedType::get(flags, storage, expressed, type.scales.front(),
                                            type.zeroPoints.front(), type.storageMin,
                                            type.storageMax);
  return quant::UniformQuantizedPerAxisType::get(
      flags, storage, expressed, type.scales, type.zeroPoints,
      static_cast<std::int32_t>(*type.axis), type.storageMin, type.storageMax);
}

} // namespace

std::optional<ElementType> elementType(mlir::Type type) {
  if (const format::ElementFormat* row = elementFormat(type))
    return ElementType(*row);
  if (const auto integer = llvm::dyn_cast_or_null<mlir::IntegerType>(type))
    return integerType(integer);
  if (const auto quantized = llvm::dyn_cast_or_null<quant::QuantizedType>(type))
    return quantizedType(quantized);
  const auto complex = llvm::dyn_cast_or_null<mlir::ComplexType>(type);
  if (!complex || !(complex.getElementType().isF32() || complex.getElementType().isF64()))
    return std::nullopt;
  return ElementType(ComplexType{elementFormat(complex.getElementType())});
}

mlir::Type mlirType(mlir::MLIRContext* context, const ElementType& type) {
  if (type.isFloat())
    return mlirType(context, type.format());
  if (type.isComplex())
    return mlir::ComplexType::get(mlirType(context, type.part()));
  if (type.isQuantized())
    return quantizedType(context, type.quantized());
  const IntegerType integer = type.integer();
  return mlir::IntegerType::get(context, static_cast<unsigned>(integer.width),
                                integer.isUnsigned ? mlir::IntegerType::Unsigned
                                                   : mlir::IntegerType::Signless);
}

} // namespace octavo
