#include "octavo/Compiler/Kernels/Elements.h"

namespace octavo::compiler {

Index::Division Elements::divide(const Index& index, std::int64_t divisor) {
  if (std::optional<Index::Division> division = index.dividedBy(divisor))
    return *division;
  const std::int64_t quotients = index.largest() / divisor + 1;
  return {Index::variable(quotient(index, divisor), quotients),
          Index::variable(remainder(index, divisor), divisor)};
}

void Elements::when(llvm::Value* condition, llvm::function_ref<void()> then) {
  llvm::Function* function = b.GetInsertBlock()->getParent();
  auto* taken = llvm::BasicBlock::Create(b.getContext(), "then", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "done", function);
  b.CreateCondBr(condition, taken, after);
  b.SetInsertPoint(taken);
  then();
  b.CreateBr(after);
  b.SetInsertPoint(after);
}

void Elements::forRange(llvm::Value* begin, llvm::Value* end,
                        llvm::function_ref<void(llvm::Value*)> body) {
  when(b.CreateICmpSLT(begin, end), [&] {
    llvm::BasicBlock* before = b.GetInsertBlock();
    auto* head = llvm::BasicBlock::Create(b.getContext(), "each", before->getParent());
    auto* after = llvm::BasicBlock::Create(b.getContext(), "last", before->getParent());
    b.CreateBr(head);
    b.SetInsertPoint(head);
    llvm::PHINode* i = b.CreatePHI(b.getInt64Ty(), 2);
    i->addIncoming(begin, before);
    body(i);
    llvm::Value* next = b.CreateNSWAdd(i, b.getInt64(1));
    i->addIncoming(next, b.GetInsertBlock());
    b.CreateCondBr(b.CreateICmpSLT(next, end), head, after);
    b.SetInsertPoint(after);
  });
}

Elements::Values Elements::repeat(std::int64_t count, const Values& first, Next next) {
  return isLess(0, count) ? repeat(b.getInt64(count), first, next) : first;
}

Elements::Values Elements::repeat(llvm::Value* count, const Values& first, Next next) {
  llvm::BasicBlock* before = b.GetInsertBlock();
  llvm::Function* function = before->getParent();
  auto* head = llvm::BasicBlock::Create(b.getContext(), "turn", function);
  auto* after = llvm::BasicBlock::Create(b.getContext(), "turned", function);
  b.CreateBr(head);
  b.SetInsertPoint(head);
  llvm::PHINode* turn = b.CreatePHI(b.getInt64Ty(), 2);
  turn->addIncoming(b.getInt64(0), before);
  Values running;
  for (llvm::Value* value : first) {
    llvm::PHINode* phi = b.CreatePHI(value->getType(), 2);
    phi->addIncoming(value, before);
    running.push_back(phi);
  }
  Values results = next(turn, running);
  llvm::Value* following = b.CreateNSWAdd(turn, b.getInt64(1));
  llvm::BasicBlock* last = b.GetInsertBlock();
  turn->addIncoming(following, last);
  for (const auto& [phi, result] : llvm::zip(running, results))
    llvm::cast<llvm::PHINode>(phi)->addIncoming(result, last);
  b.CreateCondBr(b.CreateICmpSLT(following, count), head, after);
  b.SetInsertPoint(after);
  return results;
}

} // namespace octavo::compiler
