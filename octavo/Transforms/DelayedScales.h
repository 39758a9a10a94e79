// Delayed scaling as state of a program: the scales of its quantized tensors come in as arguments,
// with the amaxes of earlier steps, and go out as results (rules F1 to F3).
#pragma once

#include "octavo/Format/ElementFormat.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <cstdint>
#include <vector>

namespace octavo::transforms {

/// How the scales of a rule's tensors follow from earlier steps.
struct DelayedScaling {
  std::int64_t history = 16; ///< amaxes that are kept, at least 1
  int margin = 0;            ///< scales are 2^-margin of what brings the amax to the largest value
};

/// The scales of one function, which no other calls.
class DelayedScales {
public:
  /// Appends two arguments to the function: `octavo.scales` [tensors], f32, 1 before the first
  /// step, and `octavo.histories` [tensors, history], f32, 0 before it.
  DelayedScales(mlir::func::FuncOp function, std::int64_t history);

  struct Codes {
    mlir::Value elements;
    mlir::Value inverse; ///< the one scale of the tensor, f32, which elements are multiplied by
  };
  /// The codes of another tensor, of f32, bf16 or f16 and of known extents, which its amax joins.
  /// Values beyond the format's become its largest. `random`, ui32 of its shape, rounds by N5;
  /// null: ties go to even.
  Codes quantize(mlir::Value value, const format::ElementFormat& format, int margin,
                 mlir::Value random);

  /// Returns the scales of the next step and the histories, as results that the arguments are
  /// donated to; nothing is quantized afterwards.
  void finish();

  mlir::func::FuncOp function() const { return of; }
  std::int64_t tensors() const { return static_cast<std::int64_t>(largest.size()); }
  std::int64_t history() const { return length; }

private:
  mlir::func::FuncOp of;
  std::int64_t length;
  mlir::BlockArgument scales, histories;
  std::vector<mlir::Value> amaxes;
  std::vector<float> largest; ///< 2^-margin of what each tensor's format has
};

} // namespace octavo::transforms
