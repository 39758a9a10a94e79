// How a custom call finds the function that evaluates it: a table keyed by the name of its target.
//
// To add a target, write `llvm::Expected<Results> fooCall(stablehlo::CustomCallOp op, const
// Operands& operands, Evaluation& evaluation)` and one line `table.add("foo", fooCall)` in its
// file's register function.
#pragma once

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Interpreter/Evaluation.h"

#include "llvm/ADT/StringMap.h"

namespace octavo::interpreter {

using CustomCall = llvm::Expected<Results> (*)(stablehlo::CustomCallOp, const Operands&,
                                               Evaluation&);

class CustomCallTable {
public:
  void add(llvm::StringRef target, CustomCall call) { table[target] = call; }

  /// Null where there is none.
  CustomCall find(llvm::StringRef target) const { return table.lookup(target); }
  /// All targets, sorted.
  std::vector<std::string> targets() const;

private:
  llvm::StringMap<CustomCall> table;
};

/// The targets of every file.
const CustomCallTable& customCalls();

/// The attribute of that name in the call's configuration: its dictionary backend_config, or
/// mhlo.backend_config, where JAX writes one for a call of an older version. Null if there is none.
mlir::Attribute configuration(stablehlo::CustomCallOp op, llvm::StringRef name);

// One a file.
void registerBlockScalingCalls(CustomCallTable& table);
void registerCheckCalls(CustomCallTable& table);
void registerJaxCalls(CustomCallTable& table);
void registerLapackCalls(CustomCallTable& table);
void registerRandomCalls(CustomCallTable& table);
void registerTopKCalls(CustomCallTable& table);

} // namespace octavo::interpreter
