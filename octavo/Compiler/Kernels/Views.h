// Views: operations that only move elements. They are never computed; a reader of the result reads
// the operand at another index.
#pragma once

#include "octavo/Compiler/Kernels/Index.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace octavo::compiler {

/// Supplies variables for quotients and remainders that are no sum of digits.
class Variables {
public:
  virtual ~Variables() = default;
  /// Names of new variables for dividend / divisor and dividend % divisor.
  virtual int quotient(const Index& dividend, std::int64_t divisor) = 0;
  virtual int remainder(const Index& dividend, std::int64_t divisor) = 0;
};

/// Variables without values, to find out where an index leads.
class Unknowns : public Variables {
public:
  explicit Unknowns(int first) : next(first) {}
  int quotient(const Index&, std::int64_t) override { return next++; }
  int remainder(const Index&, std::int64_t) override { return next++; }

private:
  int next;
};

/// The index along each axis of element number `linear` of a row-major tensor.
llvm::SmallVector<Index> indicesOf(const Index& linear, llvm::ArrayRef<std::int64_t> shape,
                                   Variables& variables);

/// Whether the result has elements of the first operand at other indices: reshape,
/// broadcast_in_dim, broadcast, transpose, slice, reverse. `op` may be null.
bool isView(mlir::Operation* op);

/// An element of a tensor, by its row-major number.
struct Element {
  mlir::Value tensor;
  Index linear;
};

/// The operand's element that is element `linear` of a view's result. Precondition: isView(op).
Element sourceOf(mlir::Operation* view, const Index& linear, Variables& variables);

/// The same through all views, up to a value that is not a view.
Element sourceOf(Element element, Variables& variables);

/// The extents of a tensor, and the number of its elements. Precondition: a ranked tensor; for
/// sizeOf, of static shape.
llvm::ArrayRef<std::int64_t> shapeOf(mlir::Value tensor);
std::int64_t sizeOf(mlir::Value tensor);

/// The value that owns the memory of `value`: a reshape has the memory of its operand.
mlir::Value inMemory(mlir::Value value);

} // namespace octavo::compiler
