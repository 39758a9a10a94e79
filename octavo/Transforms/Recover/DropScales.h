// Leaves tensors wide that a program quantizes only to dequantize them, with what finds their
// scales. The pass octavo-drop-scales is this function, without the calls.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Location.h"

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::transforms {

/// A tensor that is quantized and dequantized.
struct ScaleUse {
  mlir::Location location; ///< of the quantization
  std::string scales;      ///< "8 scales, the outer scale"
  std::string taker = {};  ///< the operation that takes its codes; empty: none, it was left out
};

struct DropReport {
  std::vector<ScaleUse> quantizations;

  std::int64_t dropped() const;
};

/// Of a verified module whose calls stay closed.
DropReport dropScales(mlir::ModuleOp module);

/// The same of a program: its calls and fused dots are opened first. Calls that cannot be stay.
DropReport dropScalesOfProgram(mlir::ModuleOp program);

} // namespace octavo::transforms
