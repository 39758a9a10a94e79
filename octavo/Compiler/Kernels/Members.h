// Operations of kernels that are neither views nor elementwise: which exist, and how a reduction
// combines elements.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace octavo::compiler {

/// The bits of a constant whose elements are equal. nullopt: they are not, or they are complex.
std::optional<llvm::APInt> splatBits(mlir::Value constant);

/// The scalars that a region captures, except constants, which are inlined in its code.
llvm::SetVector<mlir::Value> scalarsAround(mlir::Region& body);

/// By region argument or captured scalar: its value in the code.
using BodyValues = llvm::DenseMap<mlir::Value, llvm::Value*>;

/// Why there is no code for a region on scalars; empty if there is. `around` are captured scalars
/// that the caller supplies.
std::string whyNoBody(mlir::Region& body, const llvm::SetVector<mlir::Value>& around = {});
/// Emits the region on these arguments and returns its results. Precondition: whyNoBody, with the
/// scalars of `around`, is empty.
llvm::SmallVector<llvm::Value*> emitBody(Scalars& scalars, mlir::Region& body,
                                         llvm::ArrayRef<llvm::Value*> arguments,
                                         const BodyValues& around = BodyValues());

/// How a region of two arguments for each result combines elements. If `isAsWritten`, order and
/// roundings are those of the region. Otherwise, if the region is one operation of both arguments,
/// floats accumulate in f32 or f64, and the order of a sum is free (docs/semantics.md, section C).
class Combination {
public:
  Combination(mlir::Region& body, mlir::TypeRange inputs, mlir::TypeRange results,
              bool isAsWritten);

  /// Converts an element of input i, or its initial value, from type `from` to the accumulator's.
  llvm::Value* enter(Scalars& scalars, std::size_t i, mlir::Type from, llvm::Value* value) const;
  llvm::SmallVector<llvm::Value*> combine(Scalars& scalars, llvm::ArrayRef<llvm::Value*> sums,
                                          llvm::ArrayRef<llvm::Value*> elements) const;
  /// The values that a loop carries in place of `sums`, so that vectors of them combine fast. For a
  /// max or min of f32: three parts, each combined by one instruction, where `maximum` takes five.
  /// Else the sums. `combineSplit` combines such parts, `joined` turns them into sums.
  llvm::SmallVector<llvm::Value*> split(Scalars& scalars, llvm::ArrayRef<llvm::Value*> sums) const;
  llvm::SmallVector<llvm::Value*> combineSplit(Scalars& scalars, llvm::ArrayRef<llvm::Value*> parts,
                                               llvm::ArrayRef<llvm::Value*> elements) const;
  llvm::SmallVector<llvm::Value*> joined(Scalars& scalars,
                                         llvm::ArrayRef<llvm::Value*> parts) const;
  /// Converts the accumulated value of input i to an element of the result.
  llvm::Value* leave(Scalars& scalars, std::size_t i, llvm::Value* sum) const;

private:
  bool isSplit() const;

  mlir::Region& body;
  mlir::Operation* single;                             ///< the body's only operation, or null
  llvm::SmallVector<mlir::Type> accumulators, results; ///< types, of each input
  bool isAsWritten;
};

/// The operation of a body that is one add, multiply, max, min, and or or of both arguments; else
/// null.
mlir::Operation* singleOperation(mlir::Region& body);

} // namespace octavo::compiler
