// The plan of a block, made once and used by each evaluation of the block: the evaluator of each
// operation, the slots of its operands, and the last use of each value.
#pragma once

#include "octavo/Interpreter/Evaluator.h"

#include "mlir/IR/Block.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <vector>

namespace octavo::interpreter {

/// The location of a value: a slot of the frame `framesOut` blocks further out.
struct ValuePlace {
  unsigned framesOut;
  unsigned slot;
  bool isLastUse; ///< the value is not used afterwards, so this use moves it out of its slot
};

/// One operation of a block.
struct Step {
  mlir::Operation* op;
  Evaluator evaluator;
  llvm::SmallVector<ValuePlace, 3> operands;
  unsigned firstResult; ///< slot of the first result; the others follow
  /// Slots to clear after this step: their values are not used afterwards, and no operand moved
  /// them.
  llvm::SmallVector<unsigned, 1> released;
  /// The type and shape of each result that is a plain tensor of static shape. nullopt: the result
  /// is checked against its MLIR type.
  std::vector<std::optional<TensorShape>> results;
};

/// The steps of a block, and the slots of its frame.
struct EvaluationPlan {
  /// The type and shape of each argument that is a plain tensor of static shape.
  std::vector<std::optional<TensorShape>> arguments;
  std::vector<Step> steps;
  unsigned slots = 0; ///< number of slots; the block's arguments have the first ones
};

/// The plans of a program's blocks, each made when it is first used.
class EvaluationPlans {
public:
  /// The plan of `block`. The enclosing block must already have a plan. Fails, naming the
  /// operation, if an operation has no evaluator, a result is larger than the interpreter supports,
  /// or an operand is not defined in this or an enclosing block.
  llvm::Expected<const EvaluationPlan*> of(mlir::Block& block);

private:
  llvm::Expected<Step> step(mlir::Operation& op, unsigned firstResult);

  llvm::DenseMap<mlir::Block*, std::unique_ptr<EvaluationPlan>> plans;
  llvm::DenseMap<mlir::Value, unsigned> slots;
};

} // namespace octavo::interpreter
