// Joins and splits StableHLO's structure attributes, such as `#stablehlo.gather<offset_dims = [1],
// ...>`. In VHLO each part is an attribute of the operation.
#pragma once

#include "octavo/Dialect/VHLO/Attributes.h"

#include "mlir/IR/Builders.h"

#include <cstdint>
#include <optional>

namespace octavo::vhlo {

/// Replaces the parts by structures, for the operation `stem`. Fails if a part is missing or
/// invalid.
mlir::LogicalResult joinStructures(llvm::StringRef stem, mlir::NamedAttrList& attributes,
                                   mlir::MLIRContext* context, EmitError emitError);

/// Replaces the structures by their parts. `attributes` must be those of a verified operation.
void splitStructures(llvm::StringRef stem, mlir::NamedAttrList& attributes, mlir::Builder& builder);

/// Whether `part` is the value that means "no algorithm" for a dot.
bool isNoAlgorithm(llvm::StringRef name, mlir::Attribute part);

/// The numbers of an attribute that is a tensor of i64; nullopt for any other.
std::optional<llvm::SmallVector<std::int64_t>> numbersOf(mlir::Attribute attribute);
/// The number of an integer attribute; nullopt for any other.
std::optional<std::int64_t> numberOf(mlir::Attribute attribute);

} // namespace octavo::vhlo
