#include "octavo/Compiler/Codegen/InvariantBases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/PatternMatch.h"

namespace octavo::compiler {

namespace {

/// The terms of an index that are invariant in a loop, and the only changing one; null: several
/// change.
struct IndexParts {
  llvm::SmallVector<llvm::Value*> invariant;
  llvm::Value* changing = nullptr;
};

IndexParts partsOf(llvm::Value* index, const llvm::Loop& loop) {
  using namespace llvm::PatternMatch;
  IndexParts parts;
  for (llvm::Value *left, *right; match(index, m_AddLike(m_Value(left), m_Value(right)));) {
    if (loop.isLoopInvariant(left))
      std::swap(left, right);
    if (!loop.isLoopInvariant(right))
      return {};
    parts.invariant.push_back(right);
    index = left;
  }
  if (!loop.isLoopInvariant(index))
    parts.changing = index;
  return parts;
}

} // namespace

llvm::PreservedAnalyses InvariantBases::run(llvm::Function& function,
                                            llvm::FunctionAnalysisManager& analyses) {
  bool isChanged = false;
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
    llvm::BasicBlock* const before = loop->getLoopPreheader();
    if (before == nullptr || !loop->isInnermost())
      continue;
    for (llvm::BasicBlock* block : loop->blocks())
      for (llvm::Instruction& each : *block) {
        auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(&each);
        // A narrower index may wrap before it is extended.
        if (place == nullptr || place->getNumIndices() != 1 ||
            !place->getOperand(1)->getType()->isIntegerTy(64) ||
            !loop->isLoopInvariant(place->getPointerOperand()))
          continue;
        const IndexParts parts = partsOf(place->getOperand(1), *loop);
        if (parts.changing == nullptr || parts.invariant.empty())
          continue;
        llvm::IRBuilder<> b(before->getTerminator());
        llvm::Value* base = place->getPointerOperand();
        for (llvm::Value* term : llvm::reverse(parts.invariant))
          base = b.CreateGEP(place->getSourceElementType(), base, term);
        place->setNoWrapFlags(llvm::GEPNoWrapFlags::none());
        place->setOperand(0, base);
        place->setOperand(1, parts.changing);
        isChanged = true;
      }
  }
  if (!isChanged)
    return llvm::PreservedAnalyses::all();
  llvm::PreservedAnalyses kept;
  kept.preserveSet<llvm::CFGAnalyses>();
  return kept;
}

} // namespace octavo::compiler
