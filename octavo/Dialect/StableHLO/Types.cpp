#include "octavo/Dialect/StableHLO/Types.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Extents.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"

namespace octavo::stablehlo {

using mlir::RankedTensorType;

bool isTensor(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return false;
  std::int64_t count = 1;
  for (std::int64_t extent : tensor.getShape()) {
    if (extent == 0)
      return true;
    if (mlir::ShapedType::isDynamic(extent))
      continue;
    const std::optional<std::int64_t> product = llvm::checkedMul(count, extent);
    if (!product)
      return false;
    count = *product;
  }
  return true;
}

bool isStaticTensor(mlir::Type type) {
  return isTensor(type) && llvm::cast<RankedTensorType>(type).hasStaticShape();
}

bool isScalarTensor(mlir::Type type) {
  return isTensor(type) && llvm::cast<RankedTensorType>(type).getRank() == 0;
}

bool isShapeTensor(mlir::Type type) {
  return isStaticTensor(type) && llvm::cast<RankedTensorType>(type).getRank() == 1;
}

bool isBoolean(mlir::Type type) { return type.isSignlessInteger(1); }

bool isInteger(mlir::Type type) {
  const std::optional<numerics::ElementType> element = elementType(type);
  return element && element->isInteger() && !element->isBoolean();
}

bool isSignedInteger(mlir::Type type) { return isInteger(type) && type.isSignlessInteger(); }

bool isFloat(mlir::Type type) { return elementFormat(type) != nullptr; }

bool isComplex(mlir::Type type) {
  const std::optional<numerics::ElementType> element = elementType(type);
  return element && element->isComplex();
}

bool isQuantizedPerTensor(mlir::Type type) {
  return llvm::isa<mlir::quant::UniformQuantizedType>(type) && elementType(type);
}

bool isQuantizedPerAxis(mlir::Type type) {
  return llvm::isa<mlir::quant::UniformQuantizedPerAxisType>(type) && elementType(type);
}

bool isQuantized(mlir::Type type) { return isQuantizedPerTensor(type) || isQuantizedPerAxis(type); }

int bitWidth(mlir::Type element) {
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(element))
    return 2 * bitWidth(complex.getElementType());
  if (const auto quantized = llvm::dyn_cast<mlir::quant::QuantizedType>(element))
    return static_cast<int>(quantized.getStorageTypeIntegralWidth());
  return static_cast<int>(element.getIntOrFloatBitWidth());
}

bool haveOneBaselineElement(mlir::Type a, mlir::Type b) {
  if (a == b)
    return true;
  if (!isQuantized(a) || !isQuantized(b))
    return false;
  numerics::QuantizedType x = elementType(a)->quantized(), y = elementType(b)->quantized();
  // The baseline type ignores scales and zero points.
  x.scales = y.scales = {};
  x.zeroPoints = y.zeroPoints = {};
  return x == y;
}

bool isPromotable(mlir::Type narrow, mlir::Type wide) {
  if (haveOneBaselineElement(narrow, wide))
    return true;
  if (isQuantized(narrow) && isQuantized(wide))
    return elementType(narrow)->quantized().expressed == elementType(wide)->quantized().expressed &&
           bitWidth(narrow) <= bitWidth(wide);
  const bool isOneKind =
      (isFloat(narrow) && isFloat(wide)) || (isComplex(narrow) && isComplex(wide)) ||
      (isInteger(narrow) && isInteger(wide) && isSignedInteger(narrow) == isSignedInteger(wide));
  return isOneKind && bitWidth(narrow) <= bitWidth(wide);
}

bool isCompatibleShape(RankedTensorType a, RankedTensorType b) {
  return areCompatible(extentsOf(a), extentsOf(b));
}

bool isCompatible(mlir::Type a, mlir::Type b) {
  if (a == b)
    return true;
  const auto x = llvm::dyn_cast<RankedTensorType>(a), y = llvm::dyn_cast<RankedTensorType>(b);
  if (x && y)
    return isCompatibleShape(x, y) && x.getElementType() == y.getElementType();
  const auto s = llvm::dyn_cast<mlir::TupleType>(a), t = llvm::dyn_cast<mlir::TupleType>(b);
  return s && t && areCompatible(mlir::TypeRange(s.getTypes()), mlir::TypeRange(t.getTypes()));
}

bool haveOneBaseline(mlir::Type a, mlir::Type b) {
  const auto x = llvm::dyn_cast<RankedTensorType>(a), y = llvm::dyn_cast<RankedTensorType>(b);
  return x && y ? isCompatibleShape(x, y) &&
                      haveOneBaselineElement(x.getElementType(), y.getElementType())
                : isCompatible(a, b);
}

bool areCompatible(mlir::TypeRange a, mlir::TypeRange b) {
  return a.size() == b.size() &&
         llvm::all_of_zip(a, b, [](mlir::Type x, mlir::Type y) { return isCompatible(x, y); });
}

namespace {

/// Merges two compatible types, extent by extent.
template <typename Merge> mlir::Type merged(mlir::Type a, mlir::Type b, Merge merge) {
  if (const auto x = llvm::dyn_cast<RankedTensorType>(a)) {
    Extents extents;
    for (auto [one, other] : llvm::zip(extentsOf(x), extentsOf(llvm::cast<RankedTensorType>(b))))
      extents.push_back(merge(one, other));
    return tensorOf(extents, x.getElementType());
  }
  if (const auto s = llvm::dyn_cast<mlir::TupleType>(a)) {
    llvm::SmallVector<mlir::Type> types;
    for (auto [one, other] : llvm::zip(s.getTypes(), llvm::cast<mlir::TupleType>(b).getTypes()))
      types.push_back(merged(one, other, merge));
    return mlir::TupleType::get(a.getContext(), types);
  }
  return a;
}

} // namespace

mlir::Type mostSpecific(mlir::Type a, mlir::Type b) {
  return a == b ? a : merged(a, b, [](Extent x, Extent y) { return x.mostSpecific(y); });
}

mlir::Type leastSpecific(mlir::Type a, mlir::Type b) {
  return a == b ? a : merged(a, b, [](Extent x, Extent y) { return x.leastSpecific(y); });
}

} // namespace octavo::stablehlo
