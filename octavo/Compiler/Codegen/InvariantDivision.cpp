#include "octavo/Compiler/Codegen/InvariantDivision.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/AliasAnalysis.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/Transforms/Utils/Cloning.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include "llvm/Transforms/Utils/ValueMapper.h"

#include <cmath>

namespace octavo::compiler {

namespace {

/// Row lengths for which it pays: the checks before and after a row cost as much as some divisions,
/// and a row that is computed again should be in cache.
constexpr unsigned kFewestColumns = 128, kMostColumns = 1 << 16;
constexpr float kLeastDivisor = 0x1p-24F, kLargestDivisor = 0x1p24F;
constexpr std::uint32_t kLeast = (127 - 100) << 23, kLargest = (127 + 100) << 23; ///< bits of x

bool isInRange(const llvm::ConstantFP& divisor) {
  const float value = divisor.getValueAPF().convertToFloat();
  return value >= kLeastDivisor && value <= kLargestDivisor;
}

/// The divisions of a one-block loop that can be replaced.
llvm::SmallVector<llvm::BinaryOperator*> divisionsOf(const llvm::Loop& loop) {
  llvm::SmallVector<llvm::BinaryOperator*> found;
  for (llvm::Instruction& each : *loop.getHeader()) {
    if (each.getOpcode() != llvm::Instruction::FDiv || !each.getType()->isFloatTy() ||
        loop.isLoopInvariant(each.getOperand(0)) || !loop.isLoopInvariant(each.getOperand(1)))
      continue;
    const auto* constant = llvm::dyn_cast<llvm::ConstantFP>(each.getOperand(1));
    if (constant == nullptr || isInRange(*constant))
      found.push_back(llvm::cast<llvm::BinaryOperator>(&each));
  }
  return found;
}

/// Whether a loop may run again after it has run: it reads nothing that it writes. False also if it
/// contains something that cannot be vectorized.
bool canRunAgain(const llvm::Loop& loop) {
  llvm::SmallPtrSet<const llvm::Value*, 4> read, written;
  for (const llvm::Instruction& each : *loop.getHeader()) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&each))
      read.insert(llvm::getUnderlyingObject(load->getPointerOperand()));
    else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&each))
      written.insert(llvm::getUnderlyingObject(store->getPointerOperand()));
    else if (each.mayReadOrWriteMemory() ||
             (llvm::isa<llvm::CallInst>(each) && !llvm::isa<llvm::IntrinsicInst>(each)))
      return false;
  }
  // Different objects do not overlap: arguments of a kernel are noalias.
  return llvm::all_of(written,
                      [&](const llvm::Value* object) {
                        return llvm::isIdentifiedObject(object) && !read.contains(object);
                      }) &&
         llvm::all_of(read,
                      [](const llvm::Value* object) { return llvm::isIdentifiedObject(object); });
}

void withoutDividing(llvm::Loop& loop, llvm::ArrayRef<llvm::BinaryOperator*> divisions) {
  llvm::BasicBlock *body = loop.getHeader(), *before = loop.getLoopPreheader(),
                   *after = loop.getExitBlock();
  llvm::Function* function = body->getParent();
  llvm::LLVMContext& context = function->getContext();

  llvm::ValueToValueMapTy copies;
  llvm::BasicBlock* exact = llvm::CloneBasicBlock(body, copies, ".exact", function);
  copies[body] = exact;
  for (llvm::Instruction& each : *exact)
    llvm::RemapInstruction(&each, copies,
                           llvm::RF_NoModuleLevelChanges | llvm::RF_IgnoreMissingLocals);
  auto* beforeExact = llvm::BasicBlock::Create(context, "divide", function, exact);
  llvm::BranchInst::Create(exact, beforeExact);
  exact->replacePhiUsesWith(before, beforeExact);
  auto* fast = llvm::BasicBlock::Create(context, "multiply", function, body);
  llvm::BranchInst::Create(body, fast);
  body->replacePhiUsesWith(before, fast);
  auto* afterFast = llvm::BasicBlock::Create(context, "asked", function, after);
  body->getTerminator()->replaceUsesOfWith(after, afterFast);
  for (llvm::PHINode& phi : after->phis()) {
    const llvm::Value* value = phi.getIncomingValueForBlock(body);
    llvm::Value* copy = copies.lookup(value);
    phi.addIncoming(copy == nullptr ? const_cast<llvm::Value*>(value) : copy, exact);
  }
  after->replacePhiUsesWith(body, afterFast);

  llvm::IRBuilder<> b(before->getTerminator());
  llvm::Value* isUsual = b.getTrue();
  llvm::SmallDenseMap<llvm::Value*, llvm::Value*> reciprocals;
  llvm::Type* f32 = b.getFloatTy();
  for (llvm::BinaryOperator* division : divisions) {
    llvm::Value* divisor = division->getOperand(1);
    llvm::Value*& reciprocal = reciprocals[divisor];
    if (reciprocal != nullptr)
      continue;
    reciprocal = b.CreateFDiv(llvm::ConstantFP::get(f32, 1), divisor);
    isUsual = b.CreateAnd(
        isUsual,
        b.CreateAnd(b.CreateFCmpOGE(divisor, llvm::ConstantFP::get(f32, kLeastDivisor)),
                    b.CreateFCmpOLE(divisor, llvm::ConstantFP::get(f32, kLargestDivisor))));
  }
  llvm::MDBuilder weights(context);
  b.CreateCondBr(isUsual, fast, beforeExact, weights.createLikelyBranchWeights());
  before->getTerminator()->eraseFromParent();

  // The largest magnitude, and the smallest nonzero one minus 1: for 0 the subtraction wraps to the
  // largest number.
  b.SetInsertPoint(body->begin());
  llvm::PHINode *largest = b.CreatePHI(b.getInt32Ty(), 2), *least = b.CreatePHI(b.getInt32Ty(), 2);
  largest->addIncoming(b.getInt32(0), fast);
  least->addIncoming(b.getInt32(~0U), fast);
  llvm::Value *nextLargest = largest, *nextLeast = least;
  for (llvm::BinaryOperator* division : divisions) {
    b.SetInsertPoint(division);
    llvm::Value *x = division->getOperand(0), *s = division->getOperand(1);
    llvm::Value* r = reciprocals[s];
    const auto fma = [&](llvm::Value* factor, llvm::Value* other, llvm::Value* sum) {
      return b.CreateIntrinsic(llvm::Intrinsic::fma, {f32}, {factor, other, sum});
    };
    llvm::Value* q = b.CreateFMul(x, r);
    llvm::Value* e = fma(q, s, b.CreateFNeg(x));
    division->replaceAllUsesWith(fma(b.CreateFNeg(e), r, q));
    llvm::Value* size = b.CreateAnd(b.CreateBitCast(x, b.getInt32Ty()), b.getInt32(0x7FFFFFFF));
    nextLargest = b.CreateBinaryIntrinsic(llvm::Intrinsic::umax, nextLargest, size);
    nextLeast = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, nextLeast,
                                        b.CreateAdd(size, b.getInt32(~0U)));
    division->eraseFromParent();
  }
  largest->addIncoming(nextLargest, body);
  least->addIncoming(nextLeast, body);

  b.SetInsertPoint(afterFast);
  llvm::Value* isOther = b.CreateOr(b.CreateICmpUGT(nextLargest, b.getInt32(kLargest)),
                                    b.CreateICmpULT(nextLeast, b.getInt32(kLeast - 1)));
  b.CreateCondBr(isOther, beforeExact, after, weights.createUnlikelyBranchWeights());
}

} // namespace

llvm::PreservedAnalyses InvariantDivision::run(llvm::Function& function,
                                               llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  llvm::SmallVector<std::pair<llvm::Loop*, llvm::SmallVector<llvm::BinaryOperator*>>> found;
  for (llvm::Loop* loop : loops.getLoopsInPreorder()) {
    if (loop->getNumBlocks() != 1 || loop->getParentLoop() == nullptr ||
        !loop->isLoopSimplifyForm() || loop->getExitBlock() == nullptr)
      continue;
    const unsigned columns = evolution.getSmallConstantTripCount(loop);
    if (columns < kFewestColumns || columns > kMostColumns)
      continue;
    auto divisions = divisionsOf(*loop);
    if (!divisions.empty() && canRunAgain(*loop))
      found.emplace_back(loop, std::move(divisions));
  }
  if (found.empty())
    return llvm::PreservedAnalyses::all();
  for (const auto& [loop, divisions] : found)
    llvm::formLCSSA(*loop, dominators, &loops, &evolution);
  for (const auto& [loop, divisions] : found)
    withoutDividing(*loop, divisions);
  return llvm::PreservedAnalyses::none();
}

} // namespace octavo::compiler
