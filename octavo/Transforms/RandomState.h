// Random numbers of a program, whose key and counter are its state.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <cstdint>

namespace octavo::transforms {

/// The random numbers of one function, which no other calls. Each call takes others, and each run
/// of the program goes on where the one before ended: they depend on the first state alone.
class RandomState {
public:
  /// Appends an argument to the function: `octavo.random` [2], ui64, the key and the counter of
  /// Philox as StableHLO's rng_bit_generator takes them.
  explicit RandomState(mlir::func::FuncOp function);

  /// Random ui32 of that shape, of known extents, at a place in the function's body.
  mlir::Value bits(mlir::OpBuilder& builder, mlir::Location location,
                   llvm::ArrayRef<std::int64_t> shape);

  /// Returns the state of the next step, as a result that the argument is donated to; nothing is
  /// drawn afterwards.
  void finish();

private:
  mlir::Value after(mlir::OpBuilder& builder, mlir::Location location) const;

  mlir::BlockArgument state;
  std::uint64_t blocks = 0; ///< of four numbers each, that were drawn
};

/// `value`, f32, bf16 or f16, as f32 with each `size` elements of `axis` multiplied by the
/// orthogonal matrix diag(signs) H / sqrt(size), H being Sylvester's Hadamard matrix and the signs
/// the lowest of `bits`, ui32 [size] (0: plus). The axis is first padded with zeros to a multiple
/// of `size`, which is a power of 4, so that the matrix is exact.
mlir::Value rotated(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value,
                    std::int64_t axis, mlir::Value bits);

} // namespace octavo::transforms
