#include "octavo/Transforms/Walks/Derivatives.h"

#include "octavo/Dialect/StableHLO/ControlFlow.h"
#include "octavo/Transforms/Walks/FunctionCalls.h"
#include "octavo/Transforms/Walks/Movement.h"
#include "octavo/Transforms/Walks/SourceNames.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

#include <optional>
#include <vector>

namespace octavo::transforms {

namespace {

using mlir::func::FuncOp;

/// JAX puts "transpose(" around the names of operations that reverse-mode differentiation adds, and
/// "rematted_computation" into those of the forward pass computed again.
constexpr llvm::StringLiteral kDerivative = "transpose(", kRecomputed = "rematted_computation";

/// nullopt if the name says neither.
std::optional<Pass> namedPass(llvm::StringRef name) {
  const std::size_t derivative = name.rfind(kDerivative), recomputed = name.rfind(kRecomputed);
  if (derivative != llvm::StringRef::npos &&
      (recomputed == llvm::StringRef::npos || recomputed < derivative))
    return Pass::Backward;
  return recomputed == llvm::StringRef::npos ? std::nullopt : std::optional(Pass::Recomputed);
}

/// Decides whether a value, and all values that it depends on, are gradients; uses and extends
/// `known`. A value is a gradient when `missing` of the values that decide it have been found to be
/// gradients.
class Gradients {
public:
  Gradients(const Derivatives& derivatives, const ProgramCalls& program,
            llvm::DenseMap<mlir::Value, bool>& known)
      : derivatives(derivatives), program(program), known(known) {}

  void answer(mlir::Value value) {
    placeOf(value);
    for (std::size_t i = 0; i < nodes.size(); ++i)
      expand(i);
    while (!gradients.empty())
      for (const std::size_t user : nodes[gradients.pop_back_val()].users)
        if (nodes[user].missing > 0 && --nodes[user].missing == 0)
          mark(user);
    for (const Node& node : nodes)
      known[node.value] = node.isGradient;
  }

private:
  struct Node {
    mlir::Value value;
    llvm::SmallVector<std::size_t, 2> users = {}; ///< values that this one decides, once for each
                                                  ///< time that it counts
    std::size_t missing = 0;                      ///< gradients still needed among the values that
                                                  ///< decide it
    bool isGradient = false;
  };

  std::size_t placeOf(mlir::Value value) {
    const auto [found, isNew] = places.try_emplace(value, nodes.size());
    if (isNew)
      nodes.push_back({value});
    return found->second;
  }

  void mark(std::size_t place) {
    nodes[place].isGradient = true;
    gradients.push_back(place);
  }

  void decide(std::size_t place, llvm::ArrayRef<mlir::Value> by, std::size_t missing) {
    nodes[place].missing = missing;
    for (mlir::Value value : by) {
      const std::size_t at = placeOf(value);
      nodes[at].users.push_back(place);
    }
  }

  void expand(std::size_t place) {
    if (const auto before = known.find(nodes[place].value); before != known.end()) {
      if (before->second)
        mark(place);
      return;
    }
    const mlir::Value value = unmoved(nodes[place].value);
    if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(value))
      return expandArgument(place, argument);
    if (mlir::Value operand = handedThrough(value, [](mlir::Operation*) { return true; }, &program))
      return decide(place, operand, 1);
    if (derivatives.passOf(value.getDefiningOp()) == Pass::Backward)
      mark(place);
  }

  /// An argument is a gradient if a loop starts with one or carries one on, or every call passes
  /// one.
  void expandArgument(std::size_t place, mlir::BlockArgument argument) {
    const unsigned number = argument.getArgNumber();
    mlir::Operation* around = argument.getOwner()->getParentOp();
    if (auto loop = llvm::dyn_cast<stablehlo::WhileOp>(around))
      return decide(
          place,
          {loop->getOperand(number), loop.getBody().front().getTerminator()->getOperand(number)},
          1);
    auto function = llvm::dyn_cast<FuncOp>(around);
    if (!function)
      return;
    llvm::SmallVector<mlir::Value> given;
    for (mlir::func::CallOp call : program.callsOf(function))
      given.push_back(call.getOperand(number));
    decide(place, given, given.size());
  }

  const Derivatives& derivatives;
  const ProgramCalls& program;
  llvm::DenseMap<mlir::Value, bool>& known;
  llvm::DenseMap<mlir::Value, std::size_t> places;
  std::vector<Node> nodes;
  llvm::SmallVector<std::size_t> gradients; ///< gradients whose users are not updated yet
};

} // namespace

Derivatives::Derivatives(const ProgramCalls& program) : program(program) {
  for (FuncOp function : llvm::reverse(program.calleesFirst())) {
    if (program.reachesItself(function))
      continue;
    std::optional<Pass> common;
    for (mlir::func::CallOp call : program.callsOf(function)) {
      const Pass pass = passOf(call);
      common = !common || *common == pass ? pass : Pass::Forward;
      if (common == Pass::Forward)
        break;
    }
    if (common && common != Pass::Forward)
      passes[function] = *common;
  }
}

Pass Derivatives::passOf(mlir::Operation* op) const {
  for (;; op = op->getParentOp()) {
    if (llvm::isa<FuncOp>(op))
      return passes.lookup(op);
    if (llvm::isa<mlir::ModuleOp>(op))
      return Pass::Forward;
    if (const auto named = namedPass(sourceName(op->getLoc())))
      return *named;
  }
}

bool Derivatives::isDerivative(mlir::Value value) {
  if (!known.contains(value))
    Gradients(*this, program, known).answer(value);
  return known.lookup(value);
}

} // namespace octavo::transforms
