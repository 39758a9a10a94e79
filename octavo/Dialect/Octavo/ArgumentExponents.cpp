#include "octavo/Dialect/Octavo/ArgumentExponents.h"

#include "mlir/IR/Builders.h"

namespace octavo::ir {

namespace {

constexpr llvm::StringLiteral kAxisKey = "axis", kValuesKey = "exponents";

} // namespace

mlir::DictionaryAttr exponentsAttribute(mlir::MLIRContext* context, ArgumentExponents exponents) {
  mlir::Builder builder(context);
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(kAxisKey, builder.getI64IntegerAttr(exponents.axis)),
       builder.getNamedAttr(kValuesKey,
                            mlir::DenseI8ArrayAttr::get(context, exponents.exponents))});
}

ArgumentExponents argumentExponents(mlir::Attribute attribute) {
  const auto dictionary = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(attribute);
  if (!dictionary)
    return {};
  return {dictionary.getAs<mlir::IntegerAttr>(kAxisKey).getInt(),
          dictionary.getAs<mlir::DenseI8ArrayAttr>(kValuesKey).asArrayRef()};
}

bool isArgumentExponents(mlir::Attribute attribute, llvm::ArrayRef<std::int64_t> shape) {
  const auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(attribute);
  if (!dictionary || dictionary.size() != 2)
    return false;
  const auto axis = dictionary.getAs<mlir::IntegerAttr>(kAxisKey);
  const auto values = dictionary.getAs<mlir::DenseI8ArrayAttr>(kValuesKey);
  return axis && axis.getType().isSignlessInteger(64) && values && axis.getInt() >= 0 &&
         axis.getInt() < static_cast<std::int64_t>(shape.size()) &&
         values.size() == shape[static_cast<std::size_t>(axis.getInt())];
}

} // namespace octavo::ir
