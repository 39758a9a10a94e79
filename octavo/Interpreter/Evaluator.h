// The table of evaluators, keyed by the name of the operation.
//
// To add an operation, write `llvm::Expected<Value> evaluateFoo(FooOp op, const Operands& operands,
// Evaluation& evaluation)` in its family's file and one line `table.add<evaluateFoo>()` in the
// family's register function.
#pragma once

#include "octavo/Interpreter/Interpreter.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <concepts>
#include <string>
#include <vector>

namespace octavo::interpreter {

using numerics::ElementType;
using numerics::ScaledTensor;
using numerics::Tensor;

class Evaluation;
/// The evaluator owns its operands. A value that the program does not use again has no other owner,
/// so takeTensor returns it without a copy.
using Operands = llvm::MutableArrayRef<Value>;
using Results = std::vector<Value>;
using Evaluator = llvm::Expected<Results> (*)(mlir::Operation*, const Operands&, Evaluation&);

/// An error with the operation's location and name: "FILE:LINE:COLUMN: 'NAME': MESSAGE".
llvm::Error failure(mlir::Operation* op, const llvm::Twine& message);

/// The operands, moved out, as results.
inline Results taken(const Operands& operands) {
  return {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())};
}

/// The evaluator of operations whose results are their operands: returns, yields, barriers.
inline llvm::Expected<Results> handOn(mlir::Operation*, const Operands& operands, Evaluation&) {
  return taken(operands);
}

/// Maps names of operations to evaluators.
class EvaluatorTable {
public:
  void add(llvm::StringRef name, Evaluator evaluator) { table[name] = evaluator; }

  /// Adds Function for the operation class that is its first parameter. Function returns one Value
  /// or Results.
  template <auto Function> void add() { add(Typed<Function>::name(), Typed<Function>::evaluate); }

  /// Adds Function, which does not support quantized elements: it is called by evaluateByNumbers.
  template <auto Function> void addByNumbers();

  /// The evaluator of an operation; null if there is none.
  Evaluator find(llvm::StringRef name) const { return table.lookup(name); }
  /// The names of all operations in the table, sorted.
  std::vector<std::string> names() const;

private:
  template <auto Function> struct Typed;
  template <typename Op, typename Result,
            llvm::Expected<Result> (*Function)(Op, const Operands&, Evaluation&)>
  struct Typed<Function> {
    static llvm::StringRef name() { return Op::getOperationName(); }
    static llvm::Expected<Results> evaluate(mlir::Operation* op, const Operands& operands,
                                            Evaluation& evaluation) {
      llvm::Expected<Result> result = Function(Op(op), operands, evaluation);
      if (!result)
        return result.takeError();
      if constexpr (std::same_as<Result, Results>)
        return std::move(*result);
      else
        return Results{std::move(*result)};
    }
  };

  llvm::StringMap<Evaluator> table;
};

/// Evaluates an operation by `onNumbers`, which does not support quantized elements (rule I25).
/// Quantized operands are dequantized before, and results of quantized types are quantized after.
llvm::Expected<Results> evaluateByNumbers(mlir::Operation* op, const Operands& operands,
                                          Evaluation& evaluation, Evaluator onNumbers);

template <auto Function> void EvaluatorTable::addByNumbers() {
  add(Typed<Function>::name(),
      [](mlir::Operation* op, const Operands& operands, Evaluation& evaluation) {
        return evaluateByNumbers(op, operands, evaluation, Typed<Function>::evaluate);
      });
}

/// The evaluators of every family.
const EvaluatorTable& evaluators();

/// Why `value` does not have type `type`; empty if it does. `?` in a shape accepts any extent.
std::string mismatch(const Value& value, mlir::Type type);

/// The type of a value as MLIR writes it: "tensor<2x3xf32>".
std::string describe(const Value& value);

/// The element type and shape of a ranked tensor type of static shape; for any other type an error
/// at `op`.
struct TensorShape {
  ElementType type;
  std::vector<std::int64_t> shape;
};
llvm::Expected<TensorShape> tensorShape(mlir::Operation* op, mlir::Type type);

/// The element type of a ranked tensor type; an error at `op` if octavo does not have it.
llvm::Expected<ElementType> elementTypeOf(mlir::Operation* op, mlir::Type type);

/// The element type and static shape of the first result of `op`. Only for operations whose result
/// shape is given by the type alone; other evaluators compute it from the operands.
llvm::Expected<TensorShape> resultShape(mlir::Operation* op);

/// The element type of the first result of `op`.
llvm::Expected<ElementType> resultElementType(mlir::Operation* op);

/// An error at `op` if a tensor of the first result's element type and of this shape is larger than
/// the interpreter supports or than the machine's memory. To be called before a shape that was
/// computed from operands is allocated.
llvm::Error checkSize(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape);

/// The same, and an error if the type of the first result declares another shape.
llvm::Error checkResultShape(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape);

/// An error at `op` if `value` does not have the type of result `number`.
llvm::Error checkResult(mlir::Operation* op, unsigned number, const Value& value);

// One for each family, defined in the family's file.
void registerCheck(EvaluatorTable& table);
void registerChannels(EvaluatorTable& table);
void registerCHLO(EvaluatorTable& table);
void registerCollectives(EvaluatorTable& table);
void registerComplex(EvaluatorTable& table);
void registerContraction(EvaluatorTable& table);
void registerControlFlow(EvaluatorTable& table);
void registerCustomCalls(EvaluatorTable& table);
void registerDataMovement(EvaluatorTable& table);
void registerDynamic(EvaluatorTable& table);
void registerElementwise(EvaluatorTable& table);
void registerIndexing(EvaluatorTable& table);
void registerInterpreter(EvaluatorTable& table);
void registerSdy(EvaluatorTable& table);
void registerLinearAlgebra(EvaluatorTable& table);
void registerOctavo(EvaluatorTable& table);
void registerQuantized(EvaluatorTable& table);
void registerRandom(EvaluatorTable& table);
void registerReduction(EvaluatorTable& table);
void registerSort(EvaluatorTable& table);
void registerWindows(EvaluatorTable& table);

} // namespace octavo::interpreter
