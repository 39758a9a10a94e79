// Random numbers of a program, whose key and counter are its state.
#pragma once

#include "octavo/Dialect/StableHLO/Random.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>

namespace octavo::transforms {

/// Where state of a program comes to: through bodies of loops, branches and private functions that
/// are only called.
class StateReach {
public:
  explicit StateReach(const ProgramCalls& program);

  /// Why none comes to an operation: "it is within stablehlo.reduce"; empty where it does.
  std::string reasonWithout(mlir::Operation* op) const;

private:
  llvm::DenseMap<mlir::Operation*, std::string> reasons; ///< of functions
};

/// The random numbers of a program. Each draw takes others, also in each round of a loop and in
/// each call of a function, and each run of the program goes on where the one before ended: they
/// depend on the first state alone.
class RandomState {
public:
  /// Random ui32 of that shape, of known extents, at a place that state comes to.
  mlir::Value bits(mlir::OpBuilder& builder, mlir::Location location,
                   llvm::ArrayRef<std::int64_t> shape);

  /// Carries the state from draw to draw, in the order of the program. The public functions take it
  /// as an argument, `octavo.random` [2], ui64, the key and the counter of Philox as StableHLO's
  /// rng_bit_generator takes them, and return that of the next step, as a result that the argument
  /// is donated to. Gives these functions; nothing is drawn afterwards.
  llvm::SetVector<mlir::Operation*> finish();

private:
  llvm::SmallVector<stablehlo::RngBitGeneratorOp> draws;
};

/// `value`, f32, bf16 or f16, as f32 with each `size` elements of `axis` multiplied by the
/// orthogonal matrix diag(signs) H / sqrt(size), H being Sylvester's Hadamard matrix and the signs
/// the lowest of `bits`, ui32 [size] (0: plus). The axis is first padded with zeros to a multiple
/// of `size`, which is a power of 4, so that the matrix is exact.
mlir::Value rotated(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                    std::int64_t axis, mlir::Value bits);

} // namespace octavo::transforms
