// What the code of an operation is made with, wherever in a kernel it stands: elements at indices,
// indices as numbers, and loops that carry values.
#pragma once

#include "octavo/Compiler/Kernels/Scalars.h"
#include "octavo/Compiler/Kernels/Views.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace octavo::compiler {

class Elements : public Variables {
public:
  using Values = llvm::SmallVector<llvm::Value*>;

  explicit Elements(llvm::IRBuilder<>& builder) : scalars(builder), b(builder) {}

  Scalars scalars;
  llvm::IRBuilder<>& b;

  /// The element of a value at an index, loaded or computed.
  virtual llvm::Value* element(mlir::Value value, const Index& linear) = 0;
  /// An index as an i64.
  virtual llvm::Value* code(const Index& index) = 0;
  /// The name of a variable that stands for an i64 from 0 to extent - 1.
  virtual int define(llvm::Value* value, std::int64_t extent) = 0;

  /// Both parts of an index, digits where there are, else code.
  Index::Division divide(const Index& index, std::int64_t divisor);

  /// Runs `then` where the condition holds.
  void when(llvm::Value* condition, llvm::function_ref<void()> then);
  /// Runs `body` for begin <= i < end.
  void forRange(llvm::Value* begin, llvm::Value* end, llvm::function_ref<void(llvm::Value*)> body);

  /// What `next` makes of `first`, `count` times one after the other; it is given the turn.
  using Next = llvm::function_ref<Values(llvm::Value* turn, const Values& running)>;
  Values repeat(std::int64_t count, const Values& first, Next next);
  /// The same for a count of at least 1 that the program has.
  Values repeat(llvm::Value* count, const Values& first, Next next);
};

} // namespace octavo::compiler
