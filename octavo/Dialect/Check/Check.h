// The check dialect: operations that fail unless their operands are equal or close.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"

#include "octavo/Dialect/Check/CheckDialect.h.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/Check/Check.h.inc"
