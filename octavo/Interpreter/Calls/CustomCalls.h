// The table of custom calls, keyed by the name of the target.
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

/// Maps targets to the functions that evaluate them.
class CustomCallTable {
public:
  void add(llvm::StringRef target, CustomCall call) { table[target] = call; }

  /// The function of a target; null if there is none.
  CustomCall find(llvm::StringRef target) const { return table.lookup(target); }
  /// All targets, sorted.
  std::vector<std::string> targets() const;

private:
  llvm::StringMap<CustomCall> table;
};

/// The table with the targets of all files.
const CustomCallTable& customCalls();

/// The attribute `name` of the call's configuration: of the dictionary backend_config, or of
/// mhlo.backend_config, which JAX writes for calls of an older API version. Null if there is none.
mlir::Attribute configuration(stablehlo::CustomCallOp op, llvm::StringRef name);

// One for each file.
void registerBlockScalingCalls(CustomCallTable& table);
void registerCheckCalls(CustomCallTable& table);
void registerJaxCalls(CustomCallTable& table);
void registerLapackCalls(CustomCallTable& table);
void registerRandomCalls(CustomCallTable& table);
void registerTopKCalls(CustomCallTable& table);

} // namespace octavo::interpreter
