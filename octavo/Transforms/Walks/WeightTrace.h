// Where an operand comes from: a weight, moved about, or something that the program computes.
#pragma once

#include "octavo/Dialect/StableHLO/Elementwise.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace octavo::transforms {

enum class Origin : std::uint8_t {
  Computed,  ///< an activation
  Constant,  ///< a constant of the program
  Parameter, ///< an argument that is a weight
};

struct WeightTrace {
  Origin origin = Origin::Computed;
  std::string name; ///< of the argument or the resource, or "constant"
  mlir::Value root; ///< the value beside the operand that data movement starts from
  /// The weight itself, or what is known of where a value comes from: the root, or what loops,
  /// computations of Shardy and calls give as it, each call its own.
  llvm::SmallVector<mlir::Value> sources;
  llvm::SmallVector<mlir::Operation*> movement; ///< from the operand back to the root
};

/// Follows operands back through what moves values (Movement.h), where a part that indices choose
/// is still a matrix. Weights side by side are one. An argument of a private function that is only
/// called is a weight if all calls give it one; so is, in a computation of Shardy, a part of one,
/// and what a loop carries where it is given a parameter, or a constant that it does not change.
/// Each value is looked at once, of a program as it stands.
class WeightTraces {
public:
  /// Says of a function's argument whether the caller calls it a weight.
  using IsParameter = std::function<bool(mlir::BlockArgument, llvm::StringRef name)>;

  WeightTraces(const ProgramCalls& program, IsParameter isParameter)
      : program(program), isParameter(std::move(isParameter)) {}

  const WeightTrace& of(mlir::Value operand);

private:
  void expand(mlir::Value value);
  void finish(mlir::Value value);
  void finishCalls(WeightTrace& result, llvm::ArrayRef<mlir::Value> given);
  void finishJoined(WeightTrace& result, llvm::ArrayRef<mlir::Value> parts);
  void take(WeightTrace& result, mlir::Value from);

  /// A value that is looked at, and what decides what it is, beside the root.
  struct Visit {
    WeightTrace trace;
    llvm::SmallVector<mlir::Value> by = {};
    bool isKnown = false;
  };

  const ProgramCalls& program;
  IsParameter isParameter;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Visit>> visits;
};

/// Whether it gives the values as they are.
bool losesNothing(stablehlo::ConvertOp convert);

/// The same values under permuted axes: axis i of an operand is axis `axes[i]` of its root.
struct PermutedRoot {
  llvm::SmallVector<std::int64_t> axes;
};

/// What a trace's movement amounts to if it is only transposes and conversions that lose nothing.
std::optional<PermutedRoot> permutedRoot(const WeightTrace& trace, std::int64_t rank);

} // namespace octavo::transforms
