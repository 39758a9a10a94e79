// The StableHLO dialect, its attributes and types. Each family of operations has its own header.
#pragma once

#include "octavo/Dialect/StableHLO/Constraints.h"
#include "octavo/Dialect/StableHLO/Extents.h"
#include "octavo/Dialect/StableHLO/Types.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "octavo/Dialect/StableHLO/Dialect.h.inc"

#include "octavo/Dialect/StableHLO/Enums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "octavo/Dialect/StableHLO/Types.h.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/StableHLO/Attributes.h.inc"
