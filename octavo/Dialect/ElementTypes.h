// Element types of MLIR and the rows of the element format table: which is which. Computed from the
// table, so that a new row is an element type of the dialects without a change here.
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Numerics/Tensor.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace octavo {

/// The row of a float type; null for every other type. The INT8 row is an integer on a grid of its
/// own and has no MLIR float type: i8 gives null.
const format::ElementFormat* elementFormat(mlir::Type type);

/// The MLIR type of a row: its float type, or i8 for INT8; null where MLIR does not have the
/// format.
mlir::Type mlirType(mlir::MLIRContext* context, const format::ElementFormat& format);

/// The element type of a tensor of codes: the row's MLIR type; ui8 of a row of at most 8 bits that
/// has none.
mlir::Type codesType(mlir::MLIRContext* context, const format::ElementFormat& format);

/// The element type that a type stands for: the float rows, i1, signless (that is, signed) and
/// unsigned integers of 2, 4, 8, 16, 32 and 64 bits, complex of f32 or f64, and !quant.uniform, of
/// the tensor or of an axis, whose storage has 2 to 32 bits. Nothing for any other type.
std::optional<numerics::ElementType> elementType(mlir::Type type);

/// The inverse of elementType.
mlir::Type mlirType(mlir::MLIRContext* context, const numerics::ElementType& type);

} // namespace octavo
