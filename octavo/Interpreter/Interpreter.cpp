#include "octavo/Interpreter/Interpreter.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/LlvmErrors.h"
#include "octavo/Dialect/NestedCalls.h"

#include "octavo/Dialect/Sdy/Sdy.h"
#include "octavo/Dialect/StableHLO/Channels.h"
#include "octavo/Dialect/StableHLO/Collectives.h"
#include "octavo/Interpreter/Evaluation.h"
#include "octavo/Interpreter/Mlir/MLIRDialects.h"
#include "octavo/Program/Values/SharedMemory.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <thread>

namespace octavo::interpreter {

namespace {
/// Whether a value is a tensor of this type and shape.
bool isTensorOf(const Value& value, const TensorShape& expected) {
  return value.isTensor() && value.tensor().shape == expected.shape &&
         value.tensor().type == expected.type;
}

struct GridShape {
  std::int64_t replicas = 1, partitions = 1;

  std::int64_t size() const { return replicas * partitions; }
};

/// Whether an operation uses its process's id or communicates. A program without such an operation
/// computes on whole arrays, even if it is to be partitioned, so one process runs it. So does a
/// program with manual computations, which create their own grids.
bool isWrittenPerProcess(mlir::ModuleOp module) {
  const auto manual =
      module->walk([](sdy::ManualComputationOp) { return mlir::WalkResult::interrupt(); });
  if (manual.wasInterrupted())
    return false;
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

std::int64_t gridExtent(mlir::ModuleOp module, llvm::StringRef name) {
  const auto extent = module->getAttrOfType<mlir::IntegerAttr>(name);
  return extent ? extent.getInt() : 1;
}

/// The grid of processes that runs a program.
llvm::Expected<GridShape> gridOf(mlir::ModuleOp module) {
  const GridShape shape{gridExtent(module, "mhlo.num_replicas"),
                        gridExtent(module, "mhlo.num_partitions")};
  if ((shape.replicas == 1 && shape.partitions == 1) || !isWrittenPerProcess(module))
    return GridShape{};
  if (shape.replicas < 1 || shape.partitions < 1 ||
      shape.replicas > kMaxProcesses / shape.partitions)
    return failure(module, "a grid of " + llvm::Twine(shape.replicas) + " replicas and " +
                               llvm::Twine(shape.partitions) + " partitions; from 1 to " +
                               llvm::Twine(kMaxProcesses) + " processes are run");
  return shape;
}

class InterpretedFunction : public program::Executable {
public:
  InterpretedFunction(mlir::ModuleOp program, llvm::StringRef function, std::int64_t processCount)
      : program(program), function(function.str()), processCount(processCount) {}

  std::int64_t processes() const override { return processCount; }
  tl::expected<std::vector<Value>, std::string>
  run(std::vector<Value> arguments, const RunContext& host, program::ResultMemory memory) override {
    return expectedOf(evaluateInto(std::move(arguments), host, memory));
  }
  program::Explanation explain() const override {
    return {.interpretedWhole = "the backend is the interpreter"};
  }

private:
  llvm::Expected<std::vector<Value>>
  evaluateInto(std::vector<Value> arguments, const RunContext& host, program::ResultMemory memory) {
    program::keepApart(arguments, memory, [](std::size_t, std::size_t) { return false; });
    auto results = evaluate(program, function, std::move(arguments), host);
    for (std::size_t i = 0; results && i < memory.size(); ++i) {
      if (i >= results->size() || !(*results)[i].isTensor() ||
          (*results)[i].tensor().bytes.size() != memory[i].size())
        return failure(program, "result " + llvm::Twine(i) + " of '" + function +
                                    "' does not fit the " + llvm::Twine(memory[i].size()) +
                                    " bytes of memory that were given for it; it is " +
                                    (i < results->size() ? describe((*results)[i]) : "missing"));
      (*results)[i] = (*results)[i].movedTo(memory[i]);
    }
    return results;
  }

  mlir::ModuleOp program;
  std::string function;
  std::int64_t processCount;
};

} // namespace

llvm::Expected<std::unique_ptr<program::Executable>> prepare(mlir::ModuleOp program,
                                                             llvm::StringRef function) {
  llvm::Expected<GridShape> shape = gridOf(program);
  if (!shape)
    return shape.takeError();
  return std::make_unique<InterpretedFunction>(program, function, shape->size());
}

const EvaluatorTable& evaluators() {
  static const EvaluatorTable table = [] {
    EvaluatorTable t;
    for (auto* addFamily :
         {registerArith,           registerMath,         registerCheck,
          registerChannels,        registerCHLO,         registerCollectives,
          registerComplex,         registerContraction,  registerControlFlow,
          registerCustomCalls,     registerDataMovement, registerDynamic,
          registerElementwise,     registerIndexing,     registerInterpreter,
          registerLinearAlgebra,   registerOctavo,       registerQuantized,
          registerRandom,          registerReduction,    registerSdy,
          registerShapeArithmetic, registerSort,         registerStructuredControlFlow,
          registerWindows})
      addFamily(t);
    return t;
  }();
  return table;
}

Evaluation::Evaluation(mlir::ModuleOp module, const RunContext& host, Grid& grid,
                       std::int64_t process)
    : module(module), surroundings(host), processGrid(grid), processNumber(process) {}

llvm::Expected<Results> Evaluation::call(mlir::Operation* caller, llvm::StringRef name,
                                         std::vector<Value> arguments) {
  if (!symbols)
    symbols.emplace(module);
  auto function = symbols->lookup<mlir::func::FuncOp>(name);
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

llvm::Expected<Results> Evaluation::manualBody(mlir::Operation* op, llvm::StringRef function,
                                               std::vector<Value> arguments) {
  llvm::SaveAndRestore inFunction(currentFunction, function);
  computations.push_back(op);
  llvm::Expected<Results> results = region(op->getRegion(0), std::move(arguments));
  computations.pop_back();
  return results;
}

llvm::Expected<Results> Evaluation::block(mlir::Block& block, std::vector<Value> arguments,
                                          Frame* parent) {
  if (depth == kMostNestedCalls)
    return failure(block.getParentOp(), "calls and regions nest deeper than " +
                                            llvm::Twine(kMostNestedCalls) +
                                            "; is the program recursive?");
  if (processGrid.isStopped())
    return Grid::stop();
  llvm::SaveAndRestore deeper(depth, depth + 1);
  llvm::Expected<const EvaluationPlan*> plan = plans.of(block);
  if (!plan)
    return plan.takeError();
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (const auto& expected = (*plan)->arguments[i];
        !expected || !isTensorOf(arguments[i], *expected))
      if (std::string wrong =
              mismatch(arguments[i], block.getArgument(static_cast<unsigned>(i)).getType());
          !wrong.empty())
        return failure(block.getParentOp(),
                       "argument " + llvm::Twine(i) + " of a region: " + wrong);
  Frame frame{parent, std::move(arguments)};
  frame.slots.resize((*plan)->slots);
  llvm::SaveAndRestore inFrame(currentFrame, &frame);

  for (const Step& step : (*plan)->steps) {
    if (surroundings.isInterrupted && surroundings.isInterrupted())
      return failure(step.op, "interrupted here, in @" + currentFunction);
    if (surroundings.at != nullptr)
      surroundings.at->store(step.op, std::memory_order_release);
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
        if (llvm::Error error = checkResult(step.op, static_cast<unsigned>(i), value))
          return std::move(error);
      frame.slots[step.firstResult + i] = std::move(value);
    }
    for (unsigned slot : step.released)
      frame.slots[slot] = Value();
  }
  return failure(block.getParentOp(), "a block has no terminator");
}

void Evaluation::hold() {
  if (surroundings.checks != nullptr)
    ++surroundings.checks->held;
}

llvm::Error Evaluation::fail(CheckFailure failure) {
  if (surroundings.checks == nullptr)
    return llvm::createStringError(failure.message());
  surroundings.checks->failures.push_back(std::move(failure));
  return llvm::Error::success();
}

namespace {

/// The results of one process of the grid.
llvm::Expected<std::vector<Value>> evaluateProcess(Grid& grid, std::int64_t process,
                                                   mlir::ModuleOp module, ProcessWork work,
                                                   const RunContext& host) {
  try {
    Evaluation evaluation(module, host, grid, process);
    return work.manual
               ? evaluation.manualBody(work.manual, work.function, std::move(work.arguments))
               : evaluation.call(module, work.function, std::move(work.arguments));
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) { // more than a vector can have
  }
  return failure(module, "there is not enough memory for the values of '" + work.function + "'");
}

} // namespace

llvm::Expected<std::vector<Value>> evaluateOnGrid(Grid& grid, mlir::ModuleOp module,
                                                  std::vector<ProcessWork> works,
                                                  const RunContext& host) {
  if (grid.size() == 1)
    return evaluateProcess(grid, 0, module, std::move(works[0]), host);
  std::vector<CheckReport> reports(works.size());
  std::vector<Results> results(works.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t number = 0; number < works.size(); ++number)
      threads.emplace_back([&, number] {
        RunContext own = host;
        own.checks = host.checks == nullptr ? nullptr : &reports[number];
        const auto process = static_cast<std::int64_t>(number);
        auto given = evaluateProcess(grid, process, module, std::move(works[number]), own);
        if (given)
          results[number] = std::move(*given);
        grid.finish(process, given.takeError());
      });
  }
  if (host.checks != nullptr)
    for (CheckReport& own : reports) {
      host.checks->held += own.held;
      llvm::append_range(host.checks->failures, own.failures);
    }
  if (llvm::Error error = grid.failure())
    return std::move(error);
  std::vector<Value> all;
  for (Results& one : results)
    std::ranges::move(one, std::back_inserter(all));
  return all;
}

llvm::Expected<std::vector<Value>> evaluate(mlir::ModuleOp module, llvm::StringRef function,
                                            std::vector<Value> arguments, const RunContext& host) {
  llvm::Expected<GridShape> shape = gridOf(module);
  if (!shape)
    return shape.takeError();
  Grid grid(shape->replicas, shape->partitions);
  for (const program::Feed& feed : host.infeed)
    grid.put(infeedName(), feed);
  for (auto [process, queue] : llvm::enumerate(host.infeedOfProcess))
    for (const program::Feed& feed : queue)
      grid.put(infeedName(static_cast<std::int64_t>(process)), feed);
  const auto processes = static_cast<std::size_t>(grid.size());
  if (arguments.size() % processes != 0)
    return failure(module, llvm::Twine(arguments.size()) + " arguments were given to " +
                               llvm::Twine(processes) + " processes; expected as many to each");
  const std::size_t count = arguments.size() / processes;
  std::vector<ProcessWork> works;
  for (std::size_t process = 0; process < processes; ++process) {
    const auto first = arguments.begin() + static_cast<std::ptrdiff_t>(process * count);
    works.push_back({function,
                     {std::make_move_iterator(first),
                      std::make_move_iterator(first + static_cast<std::ptrdiff_t>(count))}});
  }
  return evaluateOnGrid(grid, module, std::move(works), host);
}

llvm::Expected<std::vector<Value>>
evaluateOperation(mlir::Operation* op, std::vector<Value> operands, const RunContext& host) {
  const Evaluator evaluator = evaluators().find(op->getName().getStringRef());
  if (evaluator == nullptr)
    return failure(op, "the interpreter has no evaluator for this operation");
  try {
    Grid alone(1, 1);
    Evaluation evaluation(op->getParentOfType<mlir::ModuleOp>(), host, alone, 0);
    const std::size_t failuresBefore = host.checks == nullptr ? 0 : host.checks->failures.size();
    llvm::Expected<Results> results = evaluator(op, operands, evaluation);
    if (results && results->size() != op->getNumResults())
      return failure(op, "evaluated to " + llvm::Twine(results->size()) +
                             " results; the type has " + llvm::Twine(op->getNumResults()));
    for (unsigned i = 0; results && i < op->getNumResults(); ++i)
      if (llvm::Error error = checkResult(op, i, (*results)[i]))
        return std::move(error);
    if (host.checks != nullptr)
      if (auto function = op->getParentOfType<mlir::func::FuncOp>())
        for (std::size_t i = failuresBefore; i < host.checks->failures.size(); ++i)
          host.checks->failures[i].function = function.getName().str();
    return results;
  } catch (const std::bad_alloc&) {
  } catch (const std::length_error&) { // more than a vector can have
  }
  return failure(op, "there is not enough memory for its results");
}

std::vector<std::string> evaluatedOperations() { return evaluators().names(); }

std::vector<std::string> EvaluatorTable::names() const {
  std::vector<std::string> list;
  for (const auto& entry : table)
    list.push_back(entry.getKey().str());
  std::sort(list.begin(), list.end());
  return list;
}

llvm::Error failure(mlir::Operation* op, const llvm::Twine& message) {
  return llvm::createStringError(locationText(op->getLoc()) + ": '" + op->getName().getStringRef() +
                                 "': " + message);
}

} // namespace octavo::interpreter
