// Lowers the functions that the program calls, and the calls.
#include "octavo/Compiler/Plan/FunctionLowering.h"
#include "octavo/Dialect/CalledFunction.h"
#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Program/Steps/Call.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::compiler {

/// The functions that `root` calls, directly or not, each after its callees. Fails if a function
/// calls itself or is not found.
static llvm::Expected<std::vector<mlir::func::FuncOp>> calledFrom(mlir::func::FuncOp root) {
  mlir::SymbolTableCollection symbols;
  struct Open {
    mlir::func::FuncOp function;
    llvm::SmallVector<mlir::func::CallOp> calls; ///< not visited yet
  };
  const auto opened = [](mlir::func::FuncOp function) {
    Open open{function, {}};
    function.walk([&](mlir::func::CallOp call) { open.calls.push_back(call); });
    return open;
  };
  std::vector<mlir::func::FuncOp> list;
  llvm::DenseMap<mlir::Operation*, bool> isDone = {{root, false}};
  std::vector<Open> open;
  open.push_back(opened(root));
  while (!open.empty()) {
    if (open.back().calls.empty()) {
      isDone[open.back().function] = true;
      if (open.size() > 1)
        list.push_back(open.back().function);
      open.pop_back();
      continue;
    }
    mlir::func::CallOp call = open.back().calls.pop_back_val();
    auto callee = symbols.lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal())
      return refusal(call, "calls that cannot be inlined are not compiled");
    const auto [found, isNew] = isDone.try_emplace(callee, false);
    if (isNew)
      open.push_back(opened(callee));
    else if (!found->second)
      return refusal(call, "functions that call themselves are not compiled");
  }
  return list;
}

llvm::Error FunctionLowering::calledFunctions() {
  llvm::Expected<std::vector<mlir::func::FuncOp>> functions = calledFrom(function);
  if (!functions)
    return functions.takeError();
  for (mlir::func::FuncOp each : *functions)
    if (llvm::Error error = calledFunction(each))
      return error;
  return llvm::Error::success();
}

llvm::Error FunctionLowering::calledFunction(mlir::func::FuncOp callee) {
  if (program.guards)
    return refusal(callee, "functions that are called have no guards");
  if (!llvm::hasSingleElement(callee.getBody()))
    return refusal(callee, "functions of several blocks are not compiled");
  mlir::Block& body = callee.getBody().front();
  CalledFunction called{.firstSlot = program.slots.size()};
  std::vector<Place> arguments;
  for (mlir::BlockArgument argument : body.getArguments()) {
    Place place = newPlace(argument.getType());
    if (!place.memory)
      return refusal(callee, "it is called with what is no tensor");
    places[argument] = place;
    arguments.push_back(std::move(place));
  }
  bringMovement(callee);
  Sequence sequence;
  if (llvm::Error error = block(body, sequence))
    return error;
  llvm::Expected<std::vector<Place>> results = used(body.getTerminator()->getOperands());
  if (!results)
    return results.takeError();
  if (!llvm::all_of(*results, [](const Place& place) { return place.memory.has_value(); }))
    return refusal(callee, "it gives what is no tensor");
  auto step = std::make_unique<program::FunctionStep>(
      std::make_shared<const program::OperationText>(
          program::OperationText{.name = callee->getName().getStringRef().str(),
                                 .location = locationText(callee.getLoc()),
                                 .source = sourceName(callee.getLoc()),
                                 .function = callee.getName().str(),
                                 .input = ""}),
      std::move(arguments), std::move(sequence), std::move(*results));
  called.step = step.get();
  add(program.steps, std::move(step));
  called.endSlot = program.slots.size();
  calledFunctionsByName[callee.getSymName()] = called;
  return llvm::Error::success();
}

llvm::Error FunctionLowering::call(mlir::func::CallOp op, Sequence& sequence) {
  const auto called = calledFunctionsByName.find(op.getCallee());
  if (called == calledFunctionsByName.end())
    return refusal(op, "calls that cannot be inlined are not compiled");
  llvm::Expected<std::vector<Place>> operands = used(op->getOperands());
  if (!operands)
    return operands.takeError();
  llvm::Expected<std::vector<Place>> results = used(op->getResults());
  if (!results)
    return results.takeError();
  add(sequence, std::make_unique<program::CallStep>(text(op), *called->second.step,
                                                    std::move(*operands), std::move(*results)));
  return llvm::Error::success();
}

/// Lays out the memory of each called function, and returns a slot for each that stands for it.
std::vector<SlotUse> FunctionLowering::layOutCalled() {
  std::vector<SlotUse> frames;
  for (const auto& [name, called] : calledFunctionsByName) {
    std::vector<SlotUse*> own;
    for (std::size_t i = called.firstSlot; i < called.endSlot; ++i)
      if (program.slots[i].kind == SlotUse::Kind::Arena)
        own.push_back(&program.slots[i]);
    frames.push_back({.bytes = layOut(own, 0), .first = 0, .last = kAlways});
  }
  return frames;
}

/// Moves the slots of each called function to the place of its memory.
void FunctionLowering::placeCalled(llvm::ArrayRef<SlotUse> frames) {
  for (const auto& [entry, frame] : llvm::zip(calledFunctionsByName, frames))
    for (std::size_t i = entry.second.firstSlot; i < entry.second.endSlot; ++i)
      if (program.slots[i].kind == SlotUse::Kind::Arena)
        program.slots[i].offset.fixed += frame.offset.fixed;
}

} // namespace octavo::compiler
