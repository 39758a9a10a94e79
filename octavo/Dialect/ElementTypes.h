// Maps MLIR's element types to rows of the element format table and back. The mapping is computed
// from the table, so a new row needs no change here.
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Numerics/Tensor.h"

#include "mlir/IR/Types.h"

#include <optional>

namespace octavo {

/// The row of a float type; null for any other type. The INT8 row stands for integers times a fixed
/// step and has no MLIR float type, so i8 gives null.
const format::ElementFormat* elementFormat(mlir::Type type);

/// The MLIR type of a row: its float type, or i8 for INT8. Null if MLIR does not have the format.
mlir::Type mlirType(mlir::MLIRContext* context, const format::ElementFormat& format);

/// The element type of a tensor of codes: the row's MLIR type, or ui8 if MLIR does not have the
/// format. A row without an MLIR type must have at most 8 bits.
mlir::Type codesType(mlir::MLIRContext* context, const format::ElementFormat& format);

/// The numerics type of an MLIR element type, nullopt for any type not listed:
/// - the float rows;
/// - i1, and signless or unsigned integers of 2, 4, 8, 16, 32 and 64 bits (signless is read as
///   signed);
/// - complex of f32 or f64;
/// - !quant.uniform, per tensor or per axis, with a storage of 2, 4, 8, 16 or 32 bits.
std::optional<numerics::ElementType> elementType(mlir::Type type);

/// The inverse of elementType.
mlir::Type mlirType(mlir::MLIRContext* context, const numerics::ElementType& type);

} // namespace octavo
