// The attribute octavo.exponents of an argument that also has octavo.quantize: powers of two by
// which the columns of a weight are multiplied before it is quantized.
//
//     octavo.exponents = {axis = 1 : i64, exponents = array<i8: 0, 3, -1>}
#pragma once

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace octavo::ir {

/// The name of the attribute.
inline constexpr llvm::StringLiteral kExponents = "octavo.exponents";

/// The values at index i of `axis` are multiplied by 2^exponents[i].
struct ArgumentExponents {
  std::int64_t axis = 0;
  llvm::ArrayRef<std::int8_t> exponents = {}; ///< refers to the attribute's storage
};

/// The attribute for these exponents.
mlir::DictionaryAttr exponentsAttribute(mlir::MLIRContext* context, ArgumentExponents exponents);

/// The exponents of a verified attribute; empty if `attribute` is null.
ArgumentExponents argumentExponents(mlir::Attribute attribute);

/// Whether `attribute` is valid for a tensor of this shape: an axis of it, and one exponent for
/// each index of that axis.
bool isArgumentExponents(mlir::Attribute attribute, llvm::ArrayRef<std::int64_t> shape);

} // namespace octavo::ir
