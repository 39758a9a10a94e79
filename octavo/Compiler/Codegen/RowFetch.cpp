#include "octavo/Compiler/Codegen/RowFetch.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/ScalarEvolutionExpressions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

#include <algorithm>

namespace octavo::compiler {

namespace {

/// Fused multiply-adds for each vector access, from which on memory is idle in a loop.
constexpr int kManyOperations = 4;
constexpr std::int64_t kLineOfCache = 64;
/// Rows of more bytes: the next row would be evicted before it is read.
constexpr std::int64_t kLongRow = 1 << 17;

/// A read or write in a loop. Its address advances by `step` bytes in each iteration and by `row`
/// bytes from row to row.
struct Access {
  const llvm::Value* object;
  const llvm::SCEV* begin; ///< address at the beginning of the row
  std::int64_t step, row;
  bool isWritten;
};

struct RowLoop {
  llvm::Loop* loop;
  llvm::SmallVector<Access> accesses;
  int operations = 0;

  bool touches(const llvm::Value* object) const {
    return llvm::any_of(accesses, [&](const Access& each) { return each.object == object; });
  }
  bool hasTime() const { return operations >= kManyOperations * static_cast<int>(accesses.size()); }
};

std::optional<std::int64_t> constantStep(const llvm::SCEVAddRecExpr* place,
                                         llvm::ScalarEvolution& evolution) {
  const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(place->getStepRecurrence(evolution));
  return step == nullptr ? std::nullopt : std::optional(step->getAPInt().getSExtValue());
}

RowLoop rowLoopOf(llvm::Loop* loop, llvm::ScalarEvolution& evolution) {
  RowLoop found{loop, {}};
  for (llvm::Instruction& each : *loop->getHeader()) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
    if (call != nullptr && call->getIntrinsicID() == llvm::Intrinsic::fma &&
        call->getType()->isVectorTy())
      ++found.operations;
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&each);
    if (pointer == nullptr)
      continue;
    const auto* place =
        llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution.getSCEV(const_cast<llvm::Value*>(pointer)));
    Access access{llvm::getUnderlyingObject(pointer), nullptr, 0, 0,
                  llvm::isa<llvm::StoreInst>(each)};
    if (place != nullptr && place->getLoop() == loop && place->isAffine()) {
      const auto* row = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place->getStart());
      const auto step = constantStep(place, evolution);
      if (row != nullptr && row->getLoop() == loop->getParentLoop() && step) {
        access.begin = row;
        access.step = *step;
        access.row = constantStep(row, evolution).value_or(0);
      }
    }
    found.accesses.push_back(access);
  }
  return found;
}

} // namespace

llvm::PreservedAnalyses RowFetch::run(llvm::Function& function,
                                      llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(function);
  bool isChanged = false;
  for (llvm::Loop* rows : loops.getLoopsInPreorder()) {
    llvm::SmallVector<RowLoop> inner;
    for (llvm::Loop* loop : rows->getSubLoops())
      if (loop->getNumBlocks() == 1 && loop->getLoopPreheader() != nullptr)
        inner.push_back(rowLoopOf(loop, evolution));
    for (const RowLoop& host : inner) {
      const auto comesBefore = [&](const RowLoop& a, const RowLoop& b) {
        return a.loop != b.loop && dominators.dominates(a.loop->getHeader(), b.loop->getHeader());
      };
      const std::int64_t step = llvm::accumulate(
          host.accesses, std::int64_t{0},
          [](std::int64_t most, const Access& each) { return std::max(most, each.step); });
      if (!host.hasTime() || step == 0)
        continue;
      llvm::SmallVector<const llvm::Value*> asked;
      const auto ask = [&](const Access& access, std::int64_t ahead) {
        if (access.begin == nullptr || access.step <= 0 || access.row <= 0 ||
            access.row > kLongRow || !llvm::isa<llvm::Argument>(access.object) ||
            llvm::is_contained(asked, access.object))
          return;
        asked.push_back(access.object);
        const llvm::SCEV* begin = evolution.getAddExpr(
            access.begin,
            evolution.getConstant(llvm::APInt(64, static_cast<std::uint64_t>(ahead))));
        const llvm::SCEV* place = evolution.getAddRecExpr(
            begin, evolution.getConstant(llvm::APInt(64, static_cast<std::uint64_t>(step))),
            host.loop, llvm::SCEV::FlagAnyWrap);
        llvm::SCEVExpander expander(evolution, "fetch");
        const llvm::BasicBlock::iterator at = host.loop->getHeader()->getFirstNonPHIIt();
        llvm::Value* pointer =
            expander.expandCodeFor(place, llvm::PointerType::get(function.getContext(), 0), at);
        llvm::IRBuilder<> b(host.loop->getHeader()->getTerminator());
        for (std::int64_t line = 0; line < step; line += kLineOfCache)
          b.CreateIntrinsic(
              llvm::Intrinsic::prefetch, {b.getPtrTy()},
              {b.CreateGEP(b.getInt8Ty(), pointer, b.getInt64(static_cast<std::uint64_t>(line))),
               b.getInt32(access.isWritten ? 1 : 0), b.getInt32(3), b.getInt32(1)});
        isChanged = true;
      };
      for (const RowLoop& other : inner) {
        for (const Access& access : other.accesses) {
          if (!access.isWritten && comesBefore(other, host))
            ask(access, access.row);
          if (access.isWritten && comesBefore(host, other) && !host.touches(access.object))
            ask(access, 0);
        }
      }
    }
  }
  return isChanged ? llvm::PreservedAnalyses::none() : llvm::PreservedAnalyses::all();
}

} // namespace octavo::compiler
