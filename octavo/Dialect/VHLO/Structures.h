// Attributes of StableHLO that are structures, `#stablehlo.gather<offset_dims = [1], ...>`: in VHLO
// each part is an attribute of the operation.
#pragma once

#include "octavo/Dialect/VHLO/Attributes.h"

#include "mlir/IR/Builders.h"

#include <cstdint>
#include <optional>

namespace octavo::vhlo {

/// Puts the structures of the operation `stem` in place of their parts.
mlir::LogicalResult joinStructures(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                                   mlir::MLIRContext* context, EmitError emitError);

/// The inverse. The attributes are those of a verified operation.
void splitStructures(llvm::StringRef stem, mlir::NamedAttrList& attributes, mlir::Builder& builder);

/// Whether the part says that there is no algorithm of a dot.
bool isNoAlgorithm(llvm::StringRef name, mlir::Attribute part);

/// The numbers of an attribute that is a tensor of i64; nothing if it is anything else.
std::optional<llvm::SmallVector<std::int64_t>> numbersOf(mlir::Attribute attribute);
/// The number of an integer attribute; nothing for any other.
std::optional<std::int64_t> numberOf(mlir::Attribute attribute);

} // namespace octavo::vhlo
