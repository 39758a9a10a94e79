// The passes of octavo/Transforms, for pass managers.
#pragma once

#include "octavo/Dialect/CHLO/CHLO.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Dialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>

namespace octavo::transforms {

#define GEN_PASS_DECL
#include "octavo/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "octavo/Transforms/Passes.h.inc"

} // namespace octavo::transforms
