// Traces an operand to its origin: a weight that was only moved, or a computed value.
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

/// What kind of value an operand is.
enum class Origin : std::uint8_t {
  Computed,  ///< an activation
  Constant,  ///< a constant of the program
  Parameter, ///< an argument that is a weight
};

/// Where an operand comes from, and the data movement between.
struct WeightTrace {
  Origin origin = Origin::Computed;
  std::string name; ///< name of the argument or the resource, or "constant"
  mlir::Value root; ///< the value that the data movement in this function starts from
  /// The weights, or the furthest values known: the root, or the values that loops, Shardy
  /// computations and calls pass in for it, one for each call.
  llvm::SmallVector<mlir::Value> sources;
  llvm::SmallVector<mlir::Operation*> movement; ///< the data movement, from the operand back to the
                                                ///< root
};

/// Follows operands back through data movement (Movement.h), as long as a part chosen by indices is
/// still a matrix. Each value is traced once, in the program as it is then. These are weights, too:
/// - a concatenation of weights;
/// - an argument of a private function that is only called, if all calls pass a weight;
/// - an argument of a Shardy computation that is given a weight;
/// - a value that a loop carries, if it starts as a parameter, or as a constant that the loop does
///   not change.
class WeightTraces {
public:
  /// Whether the caller regards a function's argument as a weight.
  using IsParameter = std::function<bool(mlir::BlockArgument, llvm::StringRef name)>;

  WeightTraces(const ProgramCalls& program, IsParameter isParameter)
      : program(program), isParameter(std::move(isParameter)) {}

  /// The trace of `operand`; the reference stays valid.
  const WeightTrace& of(mlir::Value operand);

private:
  void expand(mlir::Value value);
  void finish(mlir::Value value);
  void finishCalls(WeightTrace& result, llvm::ArrayRef<mlir::Value> given);
  void finishJoined(WeightTrace& result, llvm::ArrayRef<mlir::Value> parts);
  void take(WeightTrace& result, mlir::Value from);

  /// A value's trace, and the values `by` which its origin is decided beyond the root.
  struct Visit {
    WeightTrace trace;
    llvm::SmallVector<mlir::Value> by = {};
    bool isKnown = false;
  };

  const ProgramCalls& program;
  IsParameter isParameter;
  llvm::DenseMap<mlir::Value, std::unique_ptr<Visit>> visits;
};

/// Whether the conversion is exact for every value.
bool losesNothing(stablehlo::ConvertOp convert);

/// Values that are a transpose of a root's: axis i of the operand is axis `axes[i]` of the root.
struct PermutedRoot {
  llvm::SmallVector<std::int64_t> axes;
};

/// The permutation that a trace's movement amounts to; nullopt if it has operations other than
/// transposes, shardings and lossless conversions.
std::optional<PermutedRoot> permutedRoot(const WeightTrace& trace, std::int64_t rank);

} // namespace octavo::transforms
