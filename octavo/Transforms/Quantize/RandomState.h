// Random numbers of a program. The generator's key and counter are state of the program.
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

/// Which operations state of a program can reach: through loop bodies, branches, and private
/// functions that are only called.
class StateReach {
public:
  explicit StateReach(const ProgramCalls& program);

  /// Why state does not reach `op`: "it is within stablehlo.reduce"; empty if it does.
  std::string reasonWithout(mlir::Operation* op) const;

private:
  llvm::DenseMap<mlir::Operation*, std::string> reasons; ///< keys: functions
};

/// The random numbers of a program. Every draw gives new ones, in each iteration of a loop and each
/// call of a function. A run continues where the last one ended, so the numbers depend on the
/// initial state alone.
class RandomState {
public:
  /// Random ui32 of `shape`, all extents known. The builder must be at a place that state reaches.
  mlir::Value bits(mlir::OpBuilder& builder, mlir::Location location,
                   llvm::ArrayRef<std::int64_t> shape);

  /// Threads the state through the draws in program order. Each public function takes the argument
  /// `octavo.random` [2], ui64: key and counter of Philox, as for StableHLO's rng_bit_generator. It
  /// returns the next step's state as the result that the argument is donated to. Returns these
  /// functions. bits must not be called afterwards.
  llvm::SetVector<mlir::Operation*> finish();

private:
  llvm::SmallVector<stablehlo::RngBitGeneratorOp> draws;
};

/// `value` (f32, bf16 or f16) as f32, each group of `size` elements along `axis` multiplied by the
/// orthogonal matrix diag(signs) H / sqrt(size). H is Sylvester's Hadamard matrix; signs are the
/// lowest of `bits`, ui32 [size] (0: plus). The axis is first padded with zeros to a multiple of
/// `size`, a power of 4, so that the matrix is exact.
mlir::Value rotated(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                    std::int64_t axis, mlir::Value bits);

} // namespace octavo::transforms
