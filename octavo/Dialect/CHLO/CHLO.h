// The CHLO dialect: functions, predicates and top_k.
#pragma once

#include "octavo/Dialect/CHLO/Broadcast.h"
#include "octavo/Dialect/StableHLO/ControlFlow.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "octavo/Dialect/CHLO/CHLODialect.h.inc"

#include "octavo/Dialect/CHLO/Enums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "octavo/Dialect/CHLO/Attributes.h.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/CHLO/CHLO.h.inc"
