// Places of a loop, from bases that are computed before it.
#pragma once

#include "llvm/IR/PassManager.h"

namespace octavo::compiler {

/// Where an index of a loop is a sum of one number that changes in it and of others that do not,
/// these are added to the pointer before the loop, so that each place is a base and one index, as
/// instructions address memory. Loop strength reduction finds the same and more, and takes a
/// quarter of the time that a kernel has to compile.
class InvariantBases : public llvm::PassInfoMixin<InvariantBases> {
public:
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

} // namespace octavo::compiler
