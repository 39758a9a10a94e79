// What the emission of an operation needs from the kernel around it: elements at indices, indices
// as numbers, and loops that carry values.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::compiler {

/// The code around an operation. FunctionCode and KernelEmitter implement it.
class Elements : public Variables {
public:
  using Values = llvm::SmallVector<llvm::Value*>;

  explicit Elements(llvm::IRBuilder<>& builder) : scalars(builder), b(builder) {}

  Scalars scalars;
  llvm::IRBuilder<>& b;

  /// The element of a value at an index: loaded or computed.
  virtual llvm::Value* element(mlir::Value value, const Index& linear) = 0;
  /// An index as an i64.
  virtual llvm::Value* code(const Index& index) = 0;
  /// Defines a variable that has a value from 0 to extent - 1, and returns its name.
  virtual int define(llvm::Value* value, std::int64_t extent) = 0;

  /// Quotient and remainder of an index. Digits if dividedBy finds them, else emitted divisions.
  Index::Division divide(const Index& index, std::int64_t divisor);

  /// Emits a branch that runs `then` if the condition holds.
  void when(llvm::Value* condition, llvm::function_ref<void()> then);
  /// Emits a loop that runs `body` for begin <= i < end.
  void forRange(llvm::Value* begin, llvm::Value* end, llvm::function_ref<void(llvm::Value*)> body);

  /// Emits a loop that applies `next` to `first` `count` times, and returns the last values. `next`
  /// gets the number of the iteration.
  using Next = llvm::function_ref<Values(llvm::Value* turn, const Values& running)>;
  Values repeat(std::int64_t count, const Values& first, Next next);
  /// The same for a count that is computed at run time and is at least 1.
  Values repeat(llvm::Value* count, const Values& first, Next next);
};

} // namespace octavo::compiler
