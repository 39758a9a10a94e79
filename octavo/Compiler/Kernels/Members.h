// Operations of kernels that are neither views nor elementwise: which there are, and how a
// reduction combines.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Dialect/StableHLO/Reduction.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <string>

namespace octavo::compiler {

/// The one value of a constant's elements, as its bits; nothing for constants of several, and of
/// complex numbers.
std::optional<llvm::APInt> splatBits(mlir::Value constant);

/// The scalars from around a region that it uses, but for constants, which stand in its code.
llvm::SetVector<mlir::Value> scalarsAround(mlir::Region& body);

/// Values of a region's arguments, and of scalarsAround.
using BodyValues = llvm::DenseMap<mlir::Value, llvm::Value*>;

/// Why there is no code for a region on scalars; empty where there is. `around` are values from
/// around it that whoever emits it has.
std::string whyNoBody(mlir::Region& body, const llvm::SetVector<mlir::Value>& around = {});
/// What the region gives for these arguments. Precondition: whyNoBody(body) of what `around` has is
/// empty.
llvm::SmallVector<llvm::Value*> emitBody(Scalars& scalars, mlir::Region& body,
                                         llvm::ArrayRef<llvm::Value*> arguments,
                                         const BodyValues& around = BodyValues());

/// How elements are combined by a region of two arguments for each result. If `isAsWritten`, the
/// order and every rounding are those of the region. Otherwise, if the region is one operation of
/// both arguments, floats accumulate in f32 or f64, and the machine chooses the order of a sum
/// (docs/semantics.md, section C).
class Combination {
public:
  Combination(mlir::Region& body, mlir::TypeRange inputs, mlir::TypeRange results,
              bool isAsWritten);

  /// An element of input i, or its initial value, of type `from`, as it is accumulated.
  llvm::Value* enter(Scalars& scalars, std::size_t i, mlir::Type from, llvm::Value* value) const;
  llvm::SmallVector<llvm::Value*> combine(Scalars& scalars, llvm::ArrayRef<llvm::Value*> sums,
                                          llvm::ArrayRef<llvm::Value*> elements) const;
  /// What a loop carries in place of `sums`, so that vectors of it are combined fast: of a largest
  /// or smallest f32 parts for which one instruction each does, where `maximum` takes five; else
  /// the sums.
  llvm::SmallVector<llvm::Value*> split(Scalars& scalars, llvm::ArrayRef<llvm::Value*> sums) const;
  llvm::SmallVector<llvm::Value*> combineSplit(Scalars& scalars, llvm::ArrayRef<llvm::Value*> parts,
                                               llvm::ArrayRef<llvm::Value*> elements) const;
  llvm::SmallVector<llvm::Value*> joined(Scalars& scalars,
                                         llvm::ArrayRef<llvm::Value*> parts) const;
  /// What is accumulated of input i as an element of the result.
  llvm::Value* leave(Scalars& scalars, std::size_t i, llvm::Value* sum) const;

private:
  bool isSplit() const;

  mlir::Region& body;
  mlir::Operation* single;                             ///< the body's one operation, or null
  llvm::SmallVector<mlir::Type> accumulators, results; ///< of each input
  bool isAsWritten;
};

/// The body's operation where it is one, of both arguments, that accumulates in a wider type.
mlir::Operation* singleOperation(mlir::Region& body);

} // namespace octavo::compiler
