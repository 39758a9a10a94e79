// Shardy's dialect, sdy: its attributes and operations.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>

#include "octavo/Dialect/Sdy/SdyDialect.h.inc"
#include "octavo/Dialect/Sdy/SdyEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/Sdy/SdyAttributes.h.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/Sdy/Sdy.h.inc"
