// The interpreter dialect: interpreter.print, probe and run_parallel.
#pragma once

#include "octavo/Dialect/StableHLO/Dialect.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"

#include "octavo/Dialect/Interpreter/InterpreterDialect.h.inc"

#define GET_OP_CLASSES
#include "octavo/Dialect/Interpreter/Interpreter.h.inc"
