#include "octavo/Dialect/UnreadFunctions.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/MissingNames.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>

namespace octavo {

namespace {

/// The most functions that the summary names, and the most whose own errors are printed before it.
constexpr std::size_t kMostNamed = 200, kMostErrors = 5;

std::string nameOf(mlir::Operation* function) {
  const auto name =
      function->getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName());
  return name ? name.getValue().str() : "";
}

/// Whether `op` is a function, of the dialect func or of VHLO.
bool isFunction(mlir::Operation& op) {
  return op.getNumRegions() == 1 && !nameOf(&op).empty() &&
         op.getName().stripDialect().starts_with("func");
}

/// Calls `visit` for each symbol that an operation in `function` refers to.
void forEachSymbol(mlir::Operation* function, llvm::function_ref<void(mlir::SymbolRefAttr)> visit) {
  function->walk([&](mlir::Operation* op) {
    for (const mlir::NamedAttribute named : op->getAttrs())
      named.getValue().walk([&](mlir::SymbolRefAttr symbol) { visit(symbol); });
  });
}

/// Runs `work` and moves its errors to `errors` instead of reporting them.
mlir::LogicalResult quietly(mlir::MLIRContext* context, std::vector<mlir::Diagnostic>& errors,
                            llvm::function_ref<mlir::LogicalResult()> work) {
  const mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic& diagnostic) {
    if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error)
      errors.push_back(std::move(diagnostic));
  });
  return work();
}

std::string firstOf(const std::vector<mlir::Diagnostic>& errors) {
  if (errors.empty())
    return "it cannot be read";
  const mlir::Location at = errors.front().getLocation();
  std::string text = llvm::isa<mlir::UnknownLoc>(at) ? "" : locationText(at) + ": ";
  return text + errors.front().str();
}

} // namespace

void UnreadFunctions::onEach(mlir::ModuleOp program,
                             llvm::function_ref<mlir::LogicalResult(mlir::Operation*)> work,
                             bool isReported) {
  std::size_t count = 0;
  for (mlir::Operation& op : llvm::make_early_inc_range(*program.getBody())) {
    if (!isFunction(op))
      continue;
    ++count;
    if (llvm::is_contained(llvm::map_range(found, [](const Found& each) { return each.function; }),
                           &op))
      continue;
    std::vector<mlir::Diagnostic> errors;
    if (failed(quietly(program.getContext(), errors, [&] { return work(&op); })))
      found.push_back({&op, std::move(errors), isReported});
  }
  functions = std::max(functions, count);
}

void UnreadFunctions::leaveOut(mlir::Operation* function, std::string why) {
  removed.push_back({nameOf(function), std::move(why)});
  function->dropAllReferences();
  function->erase();
}

mlir::LogicalResult UnreadFunctions::leaveOutAll(mlir::ModuleOp program) {
  llvm::StringSet<> gone;
  for (Found& each : found) {
    gone.insert(nameOf(each.function));
    leaveOut(each.function, firstOf(each.errors));
  }
  found.clear();
  // Functions that refer to a removed function are removed too, until nothing changes.
  for (bool changes = !gone.empty(); changes;) {
    changes = false;
    for (mlir::Operation& op : llvm::make_early_inc_range(*program.getBody())) {
      if (!isFunction(op))
        continue;
      std::string called;
      forEachSymbol(&op, [&](mlir::SymbolRefAttr symbol) {
        if (called.empty() && gone.contains(symbol.getRootReference()))
          called = symbol.getRootReference().str();
      });
      if (called.empty())
        continue;
      gone.insert(nameOf(&op));
      leaveOut(&op, "refers to @" + called + ", which is left out");
      changes = true;
    }
  }
  if (!llvm::any_of(*program.getBody(), isFunction))
    return mlir::emitError(program.getLoc())
           << "no function of the program can be read, of " << functions << "; the first, @"
           << removed.front().name << ": " << removed.front().why;
  return mlir::success();
}

mlir::LogicalResult UnreadFunctions::refuse(mlir::ModuleOp program) {
  std::string names;
  for (const Found& each : llvm::ArrayRef(found).take_front(kMostNamed))
    names += (names.empty() ? "@" : ", @") + nameOf(each.function);
  if (found.size() > kMostNamed)
    names += " and " + std::to_string(found.size() - kMostNamed) + " others";
  const std::size_t count = found.size();
  std::size_t said = 0;
  for (Found& each : found) {
    if (each.isReported || ++said > kMostErrors)
      continue;
    if (each.errors.empty())
      mlir::emitError(each.function->getLoc())
          << "the function @" << nameOf(each.function) << " cannot be read";
    else if (!llvm::is_contained(reported, each.errors.front().str()))
      program.getContext()->getDiagEngine().emit(std::move(each.errors.front()));
  }
  found.clear();
  if (functions > 1)
    mlir::emitError(program.getLoc())
        << count << " of " << functions << " functions cannot be read: " << names
        << "; `octavo convert --skip-unreadable` leaves them out, with what refers "
           "to them, and writes the others";
  return mlir::failure();
}

mlir::LogicalResult UnreadFunctions::settle(mlir::ModuleOp program) {
  if (found.empty())
    return mlir::success();
  return policy == Policy::LeaveOut ? leaveOutAll(program) : refuse(program);
}

mlir::LogicalResult UnreadFunctions::verify(mlir::ModuleOp program) {
  const auto isValid = [](mlir::Operation* op) {
    return mlir::success(succeeded(verifyHasOperations(op)) && succeeded(mlir::verify(op)));
  };
  // A SymbolTable would assert that the names are unique.
  llvm::DenseSet<mlir::StringAttr> names;
  for (mlir::Operation& op : *program.getBody())
    if (auto name = op.getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName()))
      names.insert(name);
  const auto refersToNothing = [&](mlir::Operation* function) {
    mlir::LogicalResult all = mlir::success();
    forEachSymbol(function, [&](mlir::SymbolRefAttr symbol) {
      if (succeeded(all) && !names.contains(symbol.getRootReference()))
        all = function->emitError()
              << "refers to " << symbol << ", which the program does not have";
    });
    return all;
  };
  std::vector<mlir::Diagnostic> errors;
  const auto isWhole = [&] {
    errors.clear();
    return succeeded(quietly(program.getContext(), errors, [&] { return isValid(program); }));
  };
  if (isWhole())
    return mlir::success();
  onEach(program, isValid);
  if (policy == Policy::LeaveOut) {
    if (failed(settle(program)))
      return mlir::failure();
    if (isWhole())
      return mlir::success();
    onEach(program, refersToNothing);
    if (failed(settle(program)))
      return mlir::failure();
    if (isWhole())
      return mlir::success();
  }
  for (mlir::Diagnostic& error : errors) {
    reported.push_back(error.str());
    program.getContext()->getDiagEngine().emit(std::move(error));
  }
  return found.empty() ? mlir::failure() : refuse(program);
}

} // namespace octavo
