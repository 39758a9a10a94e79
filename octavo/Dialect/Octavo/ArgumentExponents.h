// Powers of two that the columns of a weight are multiplied by before it is quantized, as an
// attribute of the argument beside octavo.quantize:
//
//   octavo.exponents = {axis = 1 : i64, exponents = array<i8: 0, 3, -1>}
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace octavo::ir {

inline constexpr llvm::StringLiteral kExponents = "octavo.exponents";

/// The value at place i of `axis` is multiplied by 2^exponents[i].
struct ArgumentExponents {
  std::int64_t axis = 0;
  llvm::ArrayRef<std::int8_t> exponents = {}; ///< the attribute's own
};

mlir::DictionaryAttr exponentsAttribute(mlir::MLIRContext* context, ArgumentExponents exponents);

/// Of a verified attribute; none where it is null.
ArgumentExponents argumentExponents(mlir::Attribute attribute);

/// Whether the attribute is one of a tensor of that shape.
bool isArgumentExponents(mlir::Attribute attribute, llvm::ArrayRef<std::int64_t> shape);

} // namespace octavo::ir
