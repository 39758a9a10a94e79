#include "octavo/Dialect/StableHLO/Types.h"

#include "octavo/Dialect/ElementTypes.h"

#include "llvm/Support/CheckedArithmetic.h"

namespace octavo::stablehlo {

bool isStaticTensor(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return false;
  std::int64_t count = 1;
  for (std::int64_t extent : tensor.getShape()) {
    if (extent == 0)
      return true;
    const std::optional<std::int64_t> product = llvm::checkedMul(count, extent);
    if (!product)
      return false;
    count = *product;
  }
  return true;
}

bool isBoolean(mlir::Type type) { return type.isSignlessInteger(1); }

bool isInteger(mlir::Type type) {
  const std::optional<numerics::ElementType> element = elementType(type);
  return element && element->isInteger() && !element->isBoolean();
}

bool isSignedInteger(mlir::Type type) { return isInteger(type) && type.isSignlessInteger(); }

bool isFloat(mlir::Type type) { return elementFormat(type) != nullptr; }

bool isComplex(mlir::Type type) {
  const auto complex = llvm::dyn_cast<mlir::ComplexType>(type);
  return complex && (complex.getElementType().isF32() || complex.getElementType().isF64());
}

int bitWidth(mlir::Type element) {
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * bitWidth(complex.getElementType());
  return static_cast<int>(element.getIntOrFloatBitWidth());
}

} // namespace octavo::stablehlo
