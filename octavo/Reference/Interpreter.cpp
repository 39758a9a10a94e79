#include "octavo/Reference/Interpreter.h"

#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Reference/Evaluation.h"
#include "octavo/Reference/MLIRDialects.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <new>
#include <thread>

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
    for (auto* addFamily : {registerArith,         registerCheck,
                            registerChannels,      registerCHLO,
                            registerCollectives,   registerComplex,
                            registerContraction,   registerControlFlow,
                            registerDataMovement,  registerDynamic,
                            registerElementwise,   registerIndexing,
                            registerLinearAlgebra, registerOctavo,
                            registerQuantized,     registerRandom,
                            registerReduction,     registerShapeArithmetic,
                            registerSort,          registerStructuredControlFlow,
                            registerWindows})
      addFamily(t);
    return t;
  }();
  return table;
}

Evaluation::Evaluation(mlir::ModuleOp module, CheckReport* report, Grid& grid, std::int64_t process)
    : module(module), symbols(module), report(report), processGrid(grid), processNumber(process) {}

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
  if (processGrid.isStopped())
    return Grid::stop();
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

namespace {

/// More processes than that are an error in the program, not threads.
constexpr std::int64_t kMaxProcesses = 1024;

std::int64_t gridExtent(mlir::ModuleOp module, llvm::StringRef name) {
  const auto extent = module->getAttrOfType<mlir::IntegerAttr>(name);
  return extent ? extent.getInt() : 1;
}

/// Whether any operation asks who its process is, or has to do with others. A program without one
/// is written for the whole of its arrays, whatever the grid that it is to be spread over.
bool isWrittenPerProcess(mlir::ModuleOp module) {
  return module
      ->walk([](mlir::Operation* op) {
        const bool isPerProcess =
            llvm::isa<stablehlo::AllGatherOp, stablehlo::AllReduceOp, stablehlo::AllToAllOp,
                      stablehlo::CollectiveBroadcastOp, stablehlo::CollectivePermuteOp,
                      stablehlo::CollectiveReduceOp, stablehlo::CrossReplicaSumOp,
                      stablehlo::PartitionIdOp, stablehlo::RecvOp, stablehlo::ReduceScatterOp,
                      stablehlo::ReplicaIdOp, stablehlo::SendOp>(op);
        return isPerProcess ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

/// What one process of the grid gives.
llvm::Expected<std::vector<Value>> evaluateProcess(Grid& grid, std::int64_t process,
                                                   mlir::ModuleOp module, llvm::StringRef function,
                                                   std::vector<Value> arguments,
                                                   CheckReport* report) {
  try {
    return Evaluation(module, report, grid, process).call(module, function, std::move(arguments));
  } catch (const std::bad_alloc&) {
    return failure(module, "there is not enough memory for the values of '" + function + "'");
  }
}

/// Runs a function without arguments and results in every process, each in a thread.
llvm::Error evaluateOnGrid(Grid& grid, mlir::ModuleOp module, llvm::StringRef function,
                           CheckReport* report) {
  std::vector<CheckReport> reports(static_cast<std::size_t>(grid.size()));
  {
    std::vector<std::jthread> threads;
    for (std::int64_t process = 0; process < grid.size(); ++process)
      threads.emplace_back([&, process] {
        CheckReport* own =
            report == nullptr ? nullptr : &reports[static_cast<std::size_t>(process)];
        grid.finish(process, evaluateProcess(grid, process, module, function, {}, own).takeError());
      });
  }
  for (CheckReport& own : reports) {
    if (report == nullptr)
      break;
    report->held += own.held;
    llvm::append_range(report->failures, own.failures);
  }
  return grid.failure();
}

} // namespace

llvm::Expected<std::vector<Value>> evaluate(mlir::ModuleOp module, llvm::StringRef function,
                                            std::vector<Value> arguments, CheckReport* report) {
  const std::int64_t replicas = gridExtent(module, "mhlo.num_replicas");
  const std::int64_t partitions = gridExtent(module, "mhlo.num_partitions");
  if (!isWrittenPerProcess(module) || (replicas == 1 && partitions == 1)) {
    Grid alone(1, 1);
    return evaluateProcess(alone, 0, module, function, std::move(arguments), report);
  }
  if (replicas < 1 || partitions < 1 || replicas > kMaxProcesses / partitions)
    return failure(module, "a grid of " + llvm::Twine(replicas) + " replicas and " +
                               llvm::Twine(partitions) + " partitions; from 1 to " +
                               llvm::Twine(kMaxProcesses) + " processes are run");
  auto entry = mlir::SymbolTable(module).lookup<mlir::func::FuncOp>(function);
  if (entry && (entry.getNumArguments() != 0 || entry.getNumResults() != 0))
    return failure(entry, "'" + function + "' is written for each of " +
                              llvm::Twine(replicas * partitions) +
                              " processes, so its arguments and results differ from one to the "
                              "other; only functions without any, that check themselves, are run "
                              "on a grid");
  Grid grid(replicas, partitions);
  if (llvm::Error error = evaluateOnGrid(grid, module, function, report))
    return std::move(error);
  return std::vector<Value>();
}

llvm::Expected<std::vector<Value>> evaluateOperation(mlir::Operation* op,
                                                     std::vector<Value> operands) {
  const Evaluator evaluator = evaluators().find(op->getName().getStringRef());
  if (evaluator == nullptr)
    return failure(op, "the interpreter has no evaluator for this operation");
  try {
    Grid alone(1, 1);
    Evaluation evaluation(op->getParentOfType<mlir::ModuleOp>(), nullptr, alone, 0);
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
