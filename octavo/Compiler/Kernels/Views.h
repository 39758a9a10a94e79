// Operations that only say where an element comes from. They are never computed: who reads their
// result reads their operand elsewhere.
#pragma once

#include "octavo/Compiler/Kernels/Index.h"

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

#include <optional>

namespace octavo::compiler {

/// Where variables come from that stand for what is no sum of digits.
class Variables {
public:
  virtual ~Variables() = default;
  /// Names of variables for dividend / divisor and for what is left.
  virtual int quotient(const Index& dividend, std::int64_t divisor) = 0;
  virtual int remainder(const Index& dividend, std::int64_t divisor) = 0;
};

/// Variables that stand for nothing: to find out where an index leads.
class Unknowns : public Variables {
public:
  explicit Unknowns(int first) : next(first) {}
  int quotient(const Index&, std::int64_t) override { return next++; }
  int remainder(const Index&, std::int64_t) override { return next++; }

private:
  int next;
};

/// The index along each axis of the element number `linear` of a row-major tensor.
llvm::SmallVector<Index> indicesOf(const Index& linear, llvm::ArrayRef<std::int64_t> shape,
                                   Variables& variables);

/// Whether results of the operation are elements of its first operand at other places: reshape,
/// broadcast_in_dim, broadcast, transpose, slice, reverse.
bool isView(mlir::Operation* op);

struct Element {
  mlir::Value tensor;
  Index linear;
};

/// Where the element of a view's result lies in its operand. Precondition: isView(op).
Element sourceOf(mlir::Operation* view, const Index& linear, Variables& variables);

/// The same through all views up to what is none.
Element sourceOf(Element element, Variables& variables);

llvm::ArrayRef<std::int64_t> shapeOf(mlir::Value tensor);
std::int64_t sizeOf(mlir::Value tensor);

} // namespace octavo::compiler
