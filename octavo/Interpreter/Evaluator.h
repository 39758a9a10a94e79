// How an operation finds the function that evaluates it: a table keyed by the operation's name.
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
/// The operands are the evaluator's own. A value that the program does not use again is held by
/// nobody else, so that takeTensor gives it without a copy.
using Operands = llvm::MutableArrayRef<Value>;
using Results = std::vector<Value>;
using Evaluator = llvm::Expected<Results> (*)(mlir::Operation*, const Operands&, Evaluation&);

/// An error that names the operation and where it stands: "FILE:LINE:COLUMN: 'NAME': MESSAGE".
llvm::Error failure(mlir::Operation* op, const llvm::Twine& message);

/// All operands, handed on.
inline Results taken(const Operands& operands) {
  return {std::make_move_iterator(operands.begin()), std::make_move_iterator(operands.end())};
}

/// The evaluator of operations whose results are their operands: returns, yields, barriers.
inline llvm::Expected<Results> handOn(mlir::Operation*, const Operands& operands, Evaluation&) {
  return taken(operands);
}

class EvaluatorTable {
public:
  void add(llvm::StringRef name, Evaluator evaluator) { table[name] = evaluator; }

  /// Adds Function, whose first parameter is the operation's class. It returns one Value or
  /// Results.
  template <auto Function> void add() { add(Typed<Function>::name(), Typed<Function>::evaluate); }

  /// Adds Function, which knows no quantized elements, by evaluateByNumbers.
  template <auto Function> void addByNumbers();

  /// Null where there is none.
  Evaluator find(llvm::StringRef name) const { return table.lookup(name); }
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

/// Evaluates an operation by an evaluator that knows no quantized elements (rule I25): it is given
/// the numbers that quantized operands stand for, and its results are quantized where their types
/// are.
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

/// Whether `value` is what `type` describes, up to what the type leaves open (`?` in a shape); the
/// text of what is wrong otherwise, empty if nothing.
std::string mismatch(const Value& value, mlir::Type type);

/// "tensor<2x3xf32>" for a value, as MLIR writes its type.
std::string describe(const Value& value);

/// The element type and shape of a ranked tensor type of static shape; an error for `op` otherwise.
struct TensorShape {
  ElementType type;
  std::vector<std::int64_t> shape;
};
llvm::Expected<TensorShape> tensorShape(mlir::Operation* op, mlir::Type type);

/// The element type of a ranked tensor type; an error for `op` where octavo does not have it.
llvm::Expected<ElementType> elementTypeOf(mlir::Operation* op, mlir::Type type);

/// Element type and static shape of the first result of `op`: for the operations whose result's
/// shape is said by its type alone. Every other evaluator takes it from the operands.
llvm::Expected<TensorShape> resultShape(mlir::Operation* op);

/// Element type of the first result of `op`.
llvm::Expected<ElementType> resultElementType(mlir::Operation* op);

/// An error for `op` where a tensor of this shape is larger than the interpreter holds or the
/// machine's memory: asked before a shape that came from operands is allocated.
llvm::Error checkSize(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape);

/// The same of the shape of the first result, and an error where its type declares another shape.
llvm::Error checkResultShape(mlir::Operation* op, llvm::ArrayRef<std::int64_t> shape);

/// An error for `op` where its result of that number is not of its type.
llvm::Error checkResult(mlir::Operation* op, unsigned number, const Value& value);

// One a family, in the family's file.
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
