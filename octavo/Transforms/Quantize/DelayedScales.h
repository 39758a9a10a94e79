// Delayed scaling: the scales of quantized tensors, and the amaxes of earlier steps, are arguments
// of the program and come back as results (rules F1 to F3).
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace octavo::transforms {

/// How scales follow from the amaxes of earlier steps.
struct DelayedScaling {
  std::int64_t history = 16; ///< number of amaxes kept, at least 1
  int margin = 0;            ///< scales are lowered by 2^-margin from the one that maps the amax to
                             ///< the largest value
};

/// The product of the trip counts of the loops around an operation, those around the calls of its
/// function included.
class RoundsReach {
public:
  explicit RoundsReach(const ProgramCalls& program);

  /// Why an operation cannot have a scale for each iteration; empty if it can.
  std::string reasonWithout(mlir::Operation* op) const { return find(op).reason; }

private:
  struct Rounds {
    std::string reason = {};
    std::int64_t count = 1;
  };

  Rounds find(mlir::Operation* op) const;

  llvm::DenseMap<mlir::Operation*, Rounds> functions;
};

/// The delayed scales of a program. A tensor in a loop has one scale for each iteration, a tensor
/// in a function one for each call.
class DelayedScales {
public:
  /// A tensor quantized with its delayed scale.
  struct Codes {
    mlir::Value elements;
    mlir::Value inverse; ///< f32: decoded elements times this are the tensor's values
  };
  /// Quantizes one more tensor, f32, bf16 or f16 of known extents, and adds its amax to the
  /// history. Finite values beyond the format's range saturate. NaN and infinities stay, or become
  /// NaN, and do not count for the amax; if the format has no NaN, the inverse is NaN. `random`,
  /// ui32 of the tensor's shape, rounds by N5; null: ties to even. All calls must give the same
  /// history.
  Codes quantize(mlir::Value value, const format::ElementFormat& format,
                 const DelayedScaling& scaling, mlir::Value random);

  /// The state of a public function: its number of scales and the length of their histories.
  struct OfFunction {
    mlir::func::FuncOp function;
    std::int64_t scales, history;
  };
  /// Appends two arguments to each public function, and the next step's as results that the
  /// arguments are donated to:
  /// - `octavo.scales` [scales], f32, initially 1;
  /// - `octavo.histories` [scales, history], f32, initially 0.
  /// Scales are in program order of the tensors; a loop's tensors come iteration by iteration.
  /// quantize must not be called afterwards.
  llvm::SmallVector<OfFunction> finish();

  /// A quantized tensor whose scale finish() connects.
  struct Tensor {
    mlir::Operation* scale; ///< placeholder, replaced in finish()
    mlir::Value amax;
    float largest; ///< the format's largest value times 2^-margin
  };

private:
  std::vector<Tensor> tensors;
  std::int64_t history = 0;
  std::optional<mlir::SymbolTable> symbols;
};

} // namespace octavo::transforms
