#include "octavo/Reference/Interpreter.h"

#include "octavo/Reference/Evaluator.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <new>

namespace octavo::reference {

namespace {

/// Calls and regions nest on the C++ stack; a recursive program ends in an error before it does.
constexpr int kMaxDepth = 256;

const EvaluatorTable& evaluators() {
  static const EvaluatorTable table = [] {
    EvaluatorTable t;
    registerCHLO(t);
    registerCheck(t);
    registerContraction(t);
    registerControlFlow(t);
    registerDataMovement(t);
    registerElementwise(t);
    registerIndexing(t);
    registerOctavo(t);
    registerReduction(t);
    return t;
  }();
  return table;
}

} // namespace

/// The values of one block while it is evaluated, and the block around it.
struct Evaluation::Frame {
  explicit Frame(const Frame* parent) : parent(parent) {}

  const Frame* parent;
  llvm::DenseMap<mlir::Value, Value> values;
  /// Uses that are still to come, for values used in this block alone: a value goes after its last.
  llvm::DenseMap<mlir::Value, unsigned> usesLeft;

  const Value* find(mlir::Value value) const {
    for (const Frame* frame = this; frame != nullptr; frame = frame->parent)
      if (auto it = frame->values.find(value); it != frame->values.end())
        return &it->second;
    return nullptr;
  }

  void define(mlir::Value name, Value value) {
    mlir::Block* block = name.getParentBlock();
    unsigned uses = 0;
    for (mlir::OpOperand& use : name.getUses()) {
      if (use.getOwner()->getBlock() != block) {
        uses = 0;
        break;
      }
      ++uses;
    }
    if (uses != 0)
      usesLeft[name] = uses;
    values.insert_or_assign(name, std::move(value));
  }

  void release(mlir::Operation& op) {
    for (mlir::Value operand : op.getOperands())
      if (auto it = usesLeft.find(operand); it != usesLeft.end() && --it->second == 0) {
        values.erase(operand);
        usesLeft.erase(it);
      }
  }
};

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
                                          const Frame* parent) {
  if (depth == kMaxDepth)
    return failure(block.getParentOp(), "calls and regions nest deeper than " +
                                            llvm::Twine(kMaxDepth) + "; is the program recursive?");
  llvm::SaveAndRestore deeper(depth, depth + 1);
  Frame frame(parent);
  llvm::SaveAndRestore inFrame(currentFrame, static_cast<const Frame*>(&frame));
  for (auto [name, value] : llvm::zip_equal(block.getArguments(), arguments))
    frame.define(name, std::move(value));
  arguments.clear();

  for (mlir::Operation& op : block) {
    llvm::Expected<Results> results = operation(op, frame);
    if (!results || op.hasTrait<mlir::OpTrait::IsTerminator>())
      return results;
    for (auto [name, value] : llvm::zip_equal(op.getResults(), *results))
      frame.define(name, std::move(value));
    frame.release(op);
  }
  return failure(block.getParentOp(), "a block has no terminator");
}

llvm::Expected<Results> Evaluation::operation(mlir::Operation& op, Frame& frame) {
  std::vector<Value> operands;
  operands.reserve(op.getNumOperands());
  for (mlir::Value operand : op.getOperands()) {
    const Value* value = frame.find(operand);
    if (value == nullptr)
      return failure(&op, "an operand has no value; the program is not in order");
    operands.push_back(*value);
  }
  const Evaluator evaluator = evaluators().find(op.getName().getStringRef());
  if (evaluator == nullptr)
    return failure(&op, "the interpreter has no evaluator for this operation");
  // Shapes that no memory holds are refused here, before an evaluator allocates its result.
  for (mlir::Value result : op.getResults())
    if (auto type = llvm::dyn_cast<mlir::RankedTensorType>(result.getType()))
      if (llvm::Expected<TensorShape> shape = tensorShape(&op, type); !shape)
        return shape.takeError();

  llvm::Expected<Results> results = evaluator(&op, operands, *this);
  if (!results || op.hasTrait<mlir::OpTrait::IsTerminator>())
    return results;
  if (results->size() != op.getNumResults())
    return failure(&op, "evaluated to " + llvm::Twine(results->size()) + " results; the type has " +
                            llvm::Twine(op.getNumResults()));
  for (auto [value, result] : llvm::zip(*results, op.getResults()))
    if (std::string wrong = mismatch(value, result.getType()); !wrong.empty())
      return failure(&op, "result: " + wrong);
  return results;
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

std::string CheckFailure::message() const {
  std::string at;
  for (std::int64_t i : index)
    at += (at.empty() ? "" : ", ") + std::to_string(i);
  std::string text = location + ": " + operation + " in @" + function + " at [" + at +
                     "]: expected " + expected + ", found " + found;
  if (count > 1)
    text += " (" + std::to_string(count) + " elements differ)";
  return text;
}

} // namespace octavo::reference
