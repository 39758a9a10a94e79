// What of MLIR's and StableHLO's types and attributes has a place in an artifact, and since when.
#pragma once

#include "octavo/Dialect/VHLO/Version.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Types.h"

#include <cstdint>
#include <optional>

namespace octavo::vhlo {

/// The first version that has the type, with all that it consists of; nothing if none has.
std::optional<Version> since(mlir::Type type);
std::optional<Version> since(mlir::Attribute attribute);

/// A value of an enumeration that StableHLO writes otherwise or not at all.
mlir::Attribute vhloEnumerator(mlir::MLIRContext* context, llvm::StringRef mnemonic,
                               llvm::StringRef name);

/// The accuracy of a function whose operation names none.
mlir::Attribute defaultAccuracy(mlir::MLIRContext* context);

/// The name of a custom call's API version; empty for a number that is none.
llvm::StringRef apiVersionName(std::int64_t number);

} // namespace octavo::vhlo
