// Delayed scaling as state of a program: the scales of its quantized tensors come in as arguments,
// with the amaxes of earlier steps, and go out as results (rules F1 to F3).
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

/// How the scales of a rule's tensors follow from earlier steps.
struct DelayedScaling {
  std::int64_t history = 16; ///< amaxes that are kept, at least 1
  int margin = 0;            ///< scales are 2^-margin of what brings the amax to the largest value
};

/// How many rounds of loops, and of those around the calls of its function, go through operations.
class RoundsReach {
public:
  explicit RoundsReach(const ProgramCalls& program);

  /// Why an operation has no scales of its own in each round; empty if it can have them.
  std::string reasonWithout(mlir::Operation* op) const { return find(op).reason; }

private:
  struct Rounds {
    std::string reason = {};
    std::int64_t count = 1;
  };

  Rounds find(mlir::Operation* op) const;

  llvm::DenseMap<mlir::Operation*, Rounds> functions;
};

/// The scales of a program: a tensor that is quantized in a loop has one for each round, in a
/// function one for each call.
class DelayedScales {
public:
  struct Codes {
    mlir::Value elements;
    mlir::Value inverse; ///< the one scale of the tensor, f32, which elements are multiplied by
  };
  /// The codes of another tensor, of f32, bf16 or f16 and of known extents, which its amax joins.
  /// Finite values beyond the format's become its largest. NaN and infinities stay, or become NaN,
  /// and do not count for the amax; in a format without NaN the inverse is NaN. `random`, ui32 of
  /// its shape, rounds by N5; null: ties go to even. All tensors of a program have histories of one
  /// length.
  Codes quantize(mlir::Value value, const format::ElementFormat& format,
                 const DelayedScaling& scaling, mlir::Value random);

  struct OfFunction {
    mlir::func::FuncOp function;
    std::int64_t scales, history;
  };
  /// Appends two arguments to each public function: `octavo.scales` [scales], f32, 1 before the
  /// first step, and `octavo.histories` [scales, history], f32, 0 before it; and those of the next
  /// step, as results that the arguments are donated to. Scales are in the order of the tensors,
  /// those of what a loop quantizes together, round by round. Nothing is quantized afterwards.
  llvm::SmallVector<OfFunction> finish();

  struct Tensor {
    mlir::Operation* scale; ///< holds its place
    mlir::Value amax;
    float largest; ///< 2^-margin of what its format has
  };

private:
  std::vector<Tensor> tensors;
  std::int64_t history = 0;
  std::optional<mlir::SymbolTable> symbols;
};

} // namespace octavo::transforms
