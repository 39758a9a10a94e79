// What is found out about a block once, before it is evaluated any number of times: who evaluates
// each operation, where its operands lie, and which use of a value is the last.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace octavo::interpreter {

/// Where a value lies: in a slot of the frame of its block, so many blocks further out.
struct ValuePlace {
  unsigned framesOut;
  unsigned slot;
  bool isLastUse; ///< nobody asks for the value afterwards, so it is moved out of its slot
};

struct Step {
  mlir::Operation* op;
  Evaluator evaluator;
  llvm::SmallVector<ValuePlace, 3> operands;
  unsigned firstResult; ///< slot; the other results follow it
  /// Slots of values that nobody asks for after this step and that no operand moved out.
  llvm::SmallVector<unsigned, 1> released;
  /// For each result that is a plain tensor of static shape, what it must be; the others are held
  /// against their types.
  std::vector<std::optional<TensorShape>> results;
};

struct EvaluationPlan {
  /// For each argument that is a plain tensor of static shape, what it must be.
  std::vector<std::optional<TensorShape>> arguments;
  std::vector<Step> steps;
  unsigned slots = 0; ///< the block's arguments come first
};

/// The plans of a program's blocks, made as they are asked for.
class EvaluationPlans {
public:
  /// The block around `block` must have its plan. Fails, naming it, on an operation that has no
  /// evaluator, on a result that is larger than the interpreter holds, and on a value that no block
  /// around defines.
  llvm::Expected<const EvaluationPlan*> of(mlir::Block& block);

private:
  llvm::Expected<Step> step(mlir::Operation& op, unsigned firstResult);

  llvm::DenseMap<mlir::Block*, std::unique_ptr<EvaluationPlan>> plans;
  llvm::DenseMap<mlir::Value, unsigned> slots;
};

} // namespace octavo::interpreter
