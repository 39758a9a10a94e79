// Moves invariant parts of addresses out of loops.
#pragma once

#include "llvm/IR/PassManager.h"

namespace octavo::compiler {

/// If an index in a loop is the sum of one changing number and invariant ones, adds the latter to
/// the pointer before the loop. Each address is then a base and one index, which instructions can
/// address. Loop strength reduction finds the same and more, but takes a quarter of a kernel's
/// compile time.
class InvariantBases : public llvm::PassInfoMixin<InvariantBases> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace octavo::compiler
