#include "octavo/Reference/Interpreter.h"

#include "octavo/Reference/Evaluation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <new>

namespace octavo::reference {

namespace {

/// Calls and regions nest on the C++ stack; a recursive program ends in an error before it does.
constexpr int kMaxDepth = 256;

/// Whether a value is a tensor of this type and shape.
bool isTensorOf(const Value& value, const TensorShape& expected) {
  return value.isTensor() && value.tensor().shape == expected.shape &&
         value.tensor().type == expected.type;
}

class InterpretedFunction : public execution::Executable {
public:
  InterpretedFunction(mlir::ModuleOp program, llvm::StringRef function)
      : program(program), function(function.str()) {}

  llvm::Expected<std::vector<Value>> run(std::vector<Value> arguments,
                                         CheckReport* checks) override {
    return evaluate(program, function, std::move(arguments), checks);
  }

private:
  mlir::ModuleOp program;
  std::string function;
};

llvm::Expected<std::unique_ptr<execution::Executable>> prepare(mlir::ModuleOp program,
                                                               llvm::StringRef function) {
  return std::make_unique<InterpretedFunction>(program, function);
}

} // namespace

const execution::Backend kBackend{"reference", prepare};

const EvaluatorTable& evaluators() {
  static const EvaluatorTable table = [] {
    EvaluatorTable t;
    for (auto* addFamily :
         {registerCheck, registerCHLO, registerCollectives, registerComplex, registerContraction,
          registerControlFlow, registerDataMovement, registerDynamic, registerElementwise,
          registerIndexing, registerLinearAlgebra, registerOctavo, registerQuantized,
          registerRandom, registerReduction, registerSort, registerWindows})
      addFamily(t);
    return t;
  }();
  return table;
}

Evaluation::Evaluation(mlir::ModuleOp module, CheckReport* report)
    : module(module), symbols(module), report(report) {}

llvm::Expected<Results> Evaluation::call(mlir::Operation* caller, llvm::StringRef name,
                                         std::vector<Value> arguments) {
  auto function = symbols.lookup<mlir::func::FuncOp>(name);
  if (!function) {
    std::string known;
    for (auto other : module.getOps<mlir::func::FuncOp>())
      known += (known.empty() ? "" : ", ") + other.getName().str();
    return failure(caller, "no function '" + name +
                               "' in the program; it has: " + (known.empty() ? "none" : known));
  }
  if (function.isExternal())
    return failure(caller, "the function '" + name + "' is declared but has no body");
  if (arguments.size() != function.getNumArguments())
    return failure(caller, "the function '" + name + "' takes " +
                               llvm::Twine(function.getNumArguments()) + " arguments; " +
                               llvm::Twine(arguments.size()) + " were given");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (std::string wrong = mismatch(arguments[i], function.getArgumentTypes()[i]); !wrong.empty())
      return failure(caller, "argument " + llvm::Twine(i) + " of '" + name + "': " + wrong);
  if (!llvm::hasSingleElement(function.getBody()))
    return failure(function, "has more than one block; branches between blocks are not evaluated");

  llvm::SaveAndRestore inFunction(currentFunction, llvm::StringRef(function.getName()));
  return block(function.getBody().front(), std::move(arguments), nullptr);
}

llvm::Expected<Results> Evaluation::region(mlir::Region& region, std::vector<Value> arguments) {
  if (!llvm::hasSingleElement(region))
    return failure(region.getParentOp(), "a region has " + llvm::Twine(region.getBlocks().size()) +
                                             " blocks; only regions of one are evaluated");
  if (arguments.size() != region.getNumArguments())
    return failure(region.getParentOp(), "a region takes " + llvm::Twine(region.getNumArguments()) +
                                             " arguments; " + llvm::Twine(arguments.size()) +
                                             " were given");
  return block(region.front(), std::move(arguments), currentFrame);
}

llvm::Expected<Results> Evaluation::block(mlir::Block& block, std::vector<Value> arguments,
                                          Frame* parent) {
  if (depth == kMaxDepth)
    return failure(block.getParentOp(), "calls and regions nest deeper than " +
                                            llvm::Twine(kMaxDepth) + "; is the program recursive?");
  llvm::SaveAndRestore deeper(depth, depth + 1);
  llvm::Expected<const EvaluationPlan*> plan = plans.of(block);
  if (!plan)
    return plan.takeError();
  Frame frame{parent, std::move(arguments)};
  frame.slots.resize((*plan)->slots);
  llvm::SaveAndRestore inFrame(currentFrame, &frame);

  for (const Step& step : (*plan)->steps) {
    llvm::SmallVector<Value, 4> operands;
    for (const ValuePlace& place : step.operands) {
      Frame* from = &frame;
      for (unsigned out = 0; out < place.framesOut; ++out)
        from = from->parent;
      Value& value = from->slots[place.slot];
      operands.push_back(place.isLastUse ? std::move(value) : value);
    }
    llvm::Expected<Results> results = step.evaluator(step.op, operands, *this);
    if (!results || step.op->hasTrait<mlir::OpTrait::IsTerminator>())
      return results;
    if (results->size() != step.results.size())
      return failure(step.op, "evaluated to " + llvm::Twine(results->size()) +
                                  " results; the type has " + llvm::Twine(step.results.size()));
    for (std::size_t i = 0; i < results->size(); ++i) {
      Value& value = (*results)[i];
      if (!step.results[i] || !isTensorOf(value, *step.results[i]))
        if (std::string wrong =
                mismatch(value, step.op->getResult(static_cast<unsigned>(i)).getType());
            !wrong.empty())
          return failure(step.op, "result: " + wrong);
      frame.slots[step.firstResult + i] = std::move(value);
    }
    for (unsigned slot : step.released)
      frame.slots[slot] = Value();
  }
  return failure(block.getParentOp(), "a block has no terminator");
}

void Evaluation::hold() {
  if (report != nullptr)
    ++report->held;
}

llvm::Error Evaluation::fail(CheckFailure failure) {
  if (report == nullptr)
    return llvm::createStringError(failure.message());
  report->failures.push_back(std::move(failure));
  return llvm::Error::success();
}

llvm::Expected<std::vector<Value>> evaluate(mlir::ModuleOp module, llvm::StringRef function,
                                            std::vector<Value> arguments, CheckReport* report) {
  try {
    return Evaluation(module, report).call(module, function, std::move(arguments));
  } catch (const std::bad_alloc&) {
    return failure(module, "there is not enough memory for the values of '" + function + "'");
  }
}

llvm::Expected<std::vector<Value>> evaluateOperation(mlir::Operation* op,
                                                     std::vector<Value> operands) {
  const Evaluator evaluator = evaluators().find(op->getName().getStringRef());
  if (evaluator == nullptr)
    return failure(op, "the interpreter has no evaluator for this operation");
  try {
    Evaluation evaluation(op->getParentOfType<mlir::ModuleOp>(), nullptr);
    return evaluator(op, operands, evaluation);
  } catch (const std::bad_alloc&) {
    return failure(op, "there is not enough memory for its results");
  }
}

std::vector<std::string> evaluatedOperations() { return evaluators().names(); }

std::vector<std::string> EvaluatorTable::names() const {
  std::vector<std::string> list;
  for (const auto& entry : table)
    list.push_back(entry.getKey().str());
  std::sort(list.begin(), list.end());
  return list;
}

std::string locationText(mlir::Location location) {
  std::string text;
  location->walk([&](mlir::Location part) {
    auto file = llvm::dyn_cast<mlir::FileLineColLoc>(part);
    if (!file)
      return mlir::WalkResult::advance();
    text = (file.getFilename().getValue() + ":" + llvm::Twine(file.getLine()) + ":" +
            llvm::Twine(file.getColumn()))
               .str();
    return mlir::WalkResult::interrupt();
  });
  if (text.empty())
    llvm::raw_string_ostream(text) << location;
  return text;
}

llvm::Error failure(mlir::Operation* op, const llvm::Twine& message) {
  return llvm::createStringError(locationText(op->getLoc()) + ": '" + op->getName().getStringRef() +
                                 "': " + message);
}

} // namespace octavo::reference
