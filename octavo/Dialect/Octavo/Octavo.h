// The octavo dialect: the type of scaled tensors, their attributes and operations.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"
#include "octavo/Format/ScaledFormat.h"
#include "octavo/Numerics/Conversion.h"
#include "octavo/Numerics/Scaled.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "octavo/Dialect/Octavo/OctavoDialect.h.inc"

namespace octavo::ir {

class ScaledType;

/// numerics::QuantizeOptions as a parameter of #octavo.quantization.
struct QuantizationSettings {
  numerics::QuantizeOptions options;

  friend bool operator==(const QuantizationSettings&, const QuantizationSettings&) = default;
};
llvm::hash_code hash_value(const QuantizationSettings& settings);

} // namespace octavo::ir

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/Octavo/OctavoAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "octavo/Dialect/Octavo/OctavoTypes.h.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/Octavo/Octavo.h.inc"

namespace octavo::ir {

/// Whether octavo.fused_dot takes this operation as its product: rule U3 of fused_dot.
bool isNarrowProduct(mlir::Operation* op);

} // namespace octavo::ir
