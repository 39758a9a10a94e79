// How an operation finds the function that evaluates it: a table keyed by the operation's name.
//
// To add an operation, write `llvm::Expected<Value> evaluateFoo(FooOp op, const Operands& operands,
// Evaluation& evaluation)` in its family's file and one line `table.add<evaluateFoo>()` in the
// family's register function.
#pragma once

#include "octavo/Reference/Interpreter.h"
#include "octavo/Reference/Value.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"

#include <concepts>
#include <string>
#include <vector>

namespace octavo::reference {

class Evaluation;
using Operands = llvm::ArrayRef<Value>;
using Results = std::vector<Value>;
using Evaluator = llvm::Expected<Results> (*)(mlir::Operation*, const Operands&, Evaluation&);

/// An error that names the operation and where it stands: "FILE:LINE:COLUMN: 'NAME': MESSAGE".
llvm::Error failure(mlir::Operation* op, const llvm::Twine& message);

/// FILE:LINE:COLUMN, or what else a location says.
std::string locationText(mlir::Location location);

class EvaluatorTable {
public:
  void add(llvm::StringRef name, Evaluator evaluator) { table[name] = evaluator; }

  /// Adds Function, whose first parameter is the operation's class. It returns one Value or
  /// Results.
  template <auto Function> void add() { addTyped<Function>(Function); }

  /// Null where there is none.
  Evaluator find(llvm::StringRef name) const { return table.lookup(name); }
  std::vector<std::string> names() const;

private:
  template <auto Function, typename Op, typename Result>
  void addTyped(llvm::Expected<Result> (*)(Op, const Operands&, Evaluation&)) {
    add(Op::getOperationName(),
        [](mlir::Operation* op, const Operands& operands,
           Evaluation& evaluation) -> llvm::Expected<Results> {
          llvm::Expected<Result> result = Function(Op(op), operands, evaluation);
          if (!result)
            return result.takeError();
          if constexpr (std::same_as<Result, Results>)
            return std::move(*result);
          else
            return Results{std::move(*result)};
        });
  }

  llvm::StringMap<Evaluator> table;
};

/// One evaluation of a program: what evaluators need of their surroundings.
class Evaluation {
public:
  Evaluation(mlir::ModuleOp module, CheckReport* report);

  /// Evaluates a function by symbol name for `caller`, which errors name.
  llvm::Expected<Results> call(mlir::Operation* caller, llvm::StringRef function,
                               std::vector<Value> arguments);

  /// Evaluates a region of the operation that is being evaluated. The results are the operands of
  /// the region's terminator. Values defined above the region are visible in it.
  llvm::Expected<Results> region(mlir::Region& region, std::vector<Value> arguments);

  /// Adds the outcome of a check; without a report, a failure is an error.
  void hold();
  llvm::Error fail(CheckFailure failure);

  /// Name of the function that is being evaluated.
  llvm::StringRef function() const { return currentFunction; }

private:
  struct Frame;

  llvm::Expected<Results> block(mlir::Block& block, std::vector<Value> arguments,
                                const Frame* parent);
  llvm::Expected<Results> operation(mlir::Operation& op, Frame& frame);

  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  CheckReport* report;
  llvm::StringRef currentFunction;
  const Frame* currentFrame = nullptr;
  int depth = 0;
};

/// Whether `value` is what `type` describes; the text of what is wrong otherwise, empty if nothing.
std::string mismatch(const Value& value, mlir::Type type);

/// "tensor<2x3xf32>" for a value, as MLIR writes its type.
std::string describe(const Value& value);

/// The element type and shape of a ranked tensor type of static shape; an error for `op` otherwise.
struct TensorShape {
  ElementType type;
  std::vector<std::int64_t> shape;
};
llvm::Expected<TensorShape> tensorShape(mlir::Operation* op, mlir::Type type);

/// Shape and element type of the first result of `op`.
llvm::Expected<TensorShape> resultShape(mlir::Operation* op);

void registerCHLO(EvaluatorTable& table);
void registerCheck(EvaluatorTable& table);
void registerContraction(EvaluatorTable& table);
void registerControlFlow(EvaluatorTable& table);
void registerDataMovement(EvaluatorTable& table);
void registerElementwise(EvaluatorTable& table);
void registerIndexing(EvaluatorTable& table);
void registerOctavo(EvaluatorTable& table);
void registerReduction(EvaluatorTable& table);

} // namespace octavo::reference
