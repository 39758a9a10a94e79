// A kernel's function under construction: its arguments, which are tensors in memory, and the
// variables of its loops.
#pragma once

#include "octavo/Compiler/Kernels/Elements.h"
#include "octavo/Compiler/Kernels/Kernel.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

namespace octavo::compiler {

/// LLVM objects that must exist before anything that refers to them.
struct Workplace {
  llvm::LLVMContext context;
  llvm::Module module{"kernel", context};
  llvm::IRBuilder<> builder{context};
};

/// Call order: addArgument and addMemory, begin, the code of the body, finish.
class FunctionCode : private Workplace, public Elements {
public:
  FunctionCode() : Elements(builder) {}

  /// Adds an argument for a tensor. Call before begin().
  void addArgument(mlir::Value value);
  /// Gives a tensor the memory of another one, which is an argument.
  void addArgument(mlir::Value value, mlir::Value over) {
    argumentOf[value] = argumentOf.lookup(over);
  }
  /// Adds an argument for memory that is not a tensor of the program, and returns its number.
  unsigned addMemory();
  bool isArgument(mlir::Value value) const { return argumentOf.contains(value); }
  /// Begins the function's body, which computes rows firstRow() to endRow().
  void begin();
  llvm::Value* firstRow() const;
  llvm::Value* endRow() const;
  llvm::Function* function() const { return loops; }
  /// Ends the function, adds the entry `kernel`, and returns the module as text.
  KernelCode finish();

  /// Loads or stores an element of an argument. Arguments do not overlap.
  llvm::Value* load(mlir::Value value, const Index& linear);
  void store(mlir::Value value, llvm::Value* stored, const Index& linear);
  /// The pointer to an argument's memory.
  llvm::Value* memory(mlir::Value value) const;
  llvm::Value* memory(unsigned number) const { return loops->getArg(number); }

  /// The element of an argument, or of a constant whose elements are equal.
  llvm::Value* element(mlir::Value value, const Index& linear) override;
  llvm::Value* code(const Index& index) override;
  int define(llvm::Value* value, std::int64_t extent) override;
  /// Gives a variable another value, for example in a new loop.
  void redefine(int name, llvm::Value* value);
  llvm::Value* variable(int name) const;
  int quotient(const Index& dividend, std::int64_t divisor) override;
  int remainder(const Index& dividend, std::int64_t divisor) override;

private:
  llvm::Function* loops = nullptr;
  llvm::SmallVector<mlir::Value> arguments;
  llvm::DenseMap<mlir::Value, unsigned> argumentOf;
  llvm::SmallVector<Element> reads;

  struct Variable {
    llvm::Value* value;
    std::int64_t extent;
  };
  llvm::SmallVector<Variable> variables;
};

} // namespace octavo::compiler
