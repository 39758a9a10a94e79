#include "octavo/Compiler/Plan/FunctionLowering.h"

#include "octavo/Compiler/Kernels/Views.h"
#include "octavo/Program/Steps/Control.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <functional>

namespace octavo::compiler {

static bool isToken(mlir::Value value) { return llvm::isa<stablehlo::TokenType>(value.getType()); }

static llvm::SmallVector<mlir::Value> withoutTokens(mlir::ValueRange values) {
  return llvm::to_vector(llvm::make_filter_range(values, std::not_fn(isToken)));
}

/// Lets a kernel write a value that the loop's body passes on over the argument that receives it,
/// if nothing reads the argument afterwards.
void FunctionLowering::overwriteCarried(std::vector<Chain>& chains) {
  if (handedOn.empty())
    return;
  llvm::DenseSet<mlir::Value> readLater;
  const auto noteReads = [&](const Node& node) {
    for (mlir::Value value : memoryReadBy(node))
      readLater.insert(value);
  };
  for (Chain& chain : llvm::reverse(chains)) {
    for (Node& link : chain.links) {
      Node writer = link.epilogue ? *link.epilogue : link;
      Overwriting over;
      for (mlir::Value stored : writer.kernel.stored)
        if (const mlir::BlockArgument carried = handedOn.lookup(stored);
            carried && llvm::is_contained(writer.code.arguments, carried) &&
            !readLater.contains(carried) && !isReadBeside(link, chain, carried))
          over[stored] = carried;
      std::optional<KernelCode> code = emitKernel(writer.kernel, over);
      if (!code)
        continue;
      writer.code = std::move(*code);
      for (const auto& [stored, carried] : over)
        places[stored] = Place(places[carried]);
      if (link.epilogue)
        link.epilogue = std::make_shared<const Node>(std::move(writer));
      else
        link = std::move(writer);
    }
    for (const Node& link : chain.links) {
      noteReads(link);
      if (link.epilogue)
        noteReads(*link.epilogue);
    }
  }
}

llvm::Error FunctionLowering::loop(stablehlo::WhileOp op, Sequence& sequence) {
  mlir::Block& condition = op->getRegion(0).front();
  mlir::Block& body = op->getRegion(1).front();
  std::vector<program::WhileStep::Carried> carried;
  std::vector<unsigned> changing; // by entry of `carried`: its operand
  const int begin = position;
  const std::size_t slotsBefore = program.slots.size(), usedBefore = usedSlotNumbers.size();
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    // A value that each iteration passes on unchanged stays where it is, and the loop itself does
    // not read it. So a weight is packed once, not in each iteration.
    const bool isSame =
        isToken(op->getOperand(i)) || body.getTerminator()->getOperand(i) == body.getArgument(i);
    llvm::Expected<Place> given = isSame ? placeOf(op->getOperand(i)) : used(op->getOperand(i));
    if (!given)
      return given.takeError();
    // Donated arguments are only updated, also in loops (InPlace.h). A value with no other reader
    // stays in its memory, where the loop carries it.
    const bool isDonated = given->memory && slot(*given).kind == SlotUse::Kind::Donated &&
                           inMemory(op->getOperand(i)).hasOneUse();
    const bool isThere = isSame || isDonated || canBeOverwritten(op->getOperand(i), op, *given);
    Place argument = isThere ? *given : newPlace(op->getResult(i).getType());
    keep(argument);
    if (!isThere && given->memory)
      copies[argument.number] = given->number;
    // One by one: a reference into the map is invalid when the next insertion makes it grow.
    for (mlir::Value each : {mlir::Value(condition.getArgument(i)),
                             mlir::Value(body.getArgument(i)), mlir::Value(op->getResult(i))}) {
      places[each] = argument;
      if (isSame)
        sharing.insert(each);
    }
    sharing.insert(condition.getArgument(i));
    if (isSame)
      continue;
    changing.push_back(i);
    carried.push_back({std::move(*given), argument, {}});
  }
  ++position;
  Sequence conditionSteps, bodySteps;
  if (llvm::Error error = block(condition, conditionSteps))
    return error;
  llvm::Expected<Slot> predicate = usedSlot(condition.getTerminator()->getOperand(0));
  if (!predicate)
    return predicate.takeError();
  const mlir::Operation::operand_range next = body.getTerminator()->getOperands();
  for (const unsigned i : changing)
    if (const mlir::BlockArgument given = body.getArgument(i);
        places[given].memory &&
        llvm::none_of(next, [&](mlir::Value value) { return inMemory(value) == given; }))
      handedOn.try_emplace(next[i], given);
  if (llvm::Error error = block(body, bodySteps))
    return error;
  llvm::DenseSet<int> taken[2];
  for (const auto& each : carried)
    taken[each.argument.memory ? 0 : 1].insert(each.argument.number);
  for (std::size_t i = 0; i < carried.size(); ++i) {
    mlir::Value given = body.getTerminator()->getOperand(changing[i]);
    llvm::Expected<Place> place = used(given);
    if (!place)
      return place.takeError();
    const bool isMemory = place->memory.has_value();
    const Place& argument = carried[i].argument;
    const bool staysInPlace = place->number == argument.number;
    mlir::Operation* maker = inMemory(given).getDefiningOp();
    const bool isOwn = maker != nullptr && maker->getBlock() == &body &&
                       (!isMemory || slot(*place).kind == SlotUse::Kind::Arena);
    // A value from outside the body, or one that is carried as another operand, is copied to a new
    // place.
    if (!staysInPlace && (!isOwn || !taken[isMemory ? 0 : 1].insert(place->number).second)) {
      Place own =
          newPlace(argument.memory ? op->getResult(changing[i]).getType() : given.getType());
      add(bodySteps, std::make_unique<program::CopyStep>(text(op), *place, own));
      place = own;
    }
    if (!staysInPlace && isMemory) {
      keep(*place);
      swapped.insert(argument.number);
      swapped.insert(place->number);
    }
    carried[i].next = *place;
  }
  // Each iteration reads slots from before the loop again: they stay in use until its end.
  for (const int number : llvm::drop_begin(usedSlotNumbers, usedBefore))
    if (static_cast<std::size_t>(number) < slotsBefore && slot(Slot{number}).last > begin)
      slot(Slot{number}).last = std::max(slot(Slot{number}).last, position);
  add(sequence,
      std::make_unique<program::WhileStep>(text(op), std::move(carried), std::move(conditionSteps),
                                           *predicate, std::move(bodySteps)));
  return llvm::Error::success();
}

llvm::Error FunctionLowering::branch(mlir::Operation* op, Sequence& sequence) {
  llvm::Expected<Slot> index = usedSlot(op->getOperand(0));
  if (!index)
    return index.takeError();
  std::vector<program::BranchStep::Branch> branches;
  for (mlir::Region& region : op->getRegions()) {
    branches.emplace_back();
    if (llvm::Error error = block(region.front(), branches.back().steps))
      return error;
    llvm::Expected<std::vector<Place>> given =
        used(withoutTokens(region.front().getTerminator()->getOperands()));
    if (!given)
      return given.takeError();
    branches.back().results = std::move(*given);
  }
  llvm::Expected<std::vector<Place>> found = used(withoutTokens(op->getResults()));
  if (!found)
    return found.takeError();
  // The step reads the results of the branches at its end.
  for (const auto& each : branches)
    for (const Place& place : each.results)
      if (place.memory)
        slot(place).last = std::max(slot(place).last, position);
  add(sequence,
      std::make_unique<program::BranchStep>(text(op), *index, llvm::isa<stablehlo::IfOp>(op),
                                            std::move(branches), std::move(*found)));
  return llvm::Error::success();
}

} // namespace octavo::compiler
