#include "octavo/Transforms/Recover/MissedDots.h"

#include "octavo/Dialect/Diagnostics.h"
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/Octavo/Octavo.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Transforms/Walks/Inlining.h"
#include "octavo/Transforms/Walks/TensorFacts.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

namespace octavo::transforms {

static bool isNarrow(mlir::Type type) {
  const auto* format = elementFormat(mlir::getElementTypeOrSelf(type));
  return format != nullptr && format->isNarrow();
}

static std::string nameAndPlace(const RecoveredDot& dot) {
  const std::string location = locationText(dot.location);
  // A dot without a name in the source is named by its place, without the folder.
  return llvm::StringRef(location).ends_with(dot.name) ? dot.name
                                                       : dot.name + " (" + location + ")";
}

std::string MissedDots::text() const {
  const RecoveredDot& first = dots.front();
  std::string who = nameAndPlace(first);
  const std::size_t others = dots.size() - 1;
  if (others > 0)
    who += " and " + std::to_string(others) + (others == 1 ? " dot like it" : " dots like it");
  const std::string verb = others > 0 ? " multiply" : " multiplies";
  if (isRecovered)
    return who + verb +
           " wide values that are dequantized before: `--recover-scaled` of `octavo run` and "
           "`octavo compile`, octavo.compile(recover_scaled=True) and `octavo explain -o OUT` "
           "multiply scaled tensors";
  return who + verb + " wide values" + (isOneSided ? " on one side" : "") +
         ", though narrow ones are behind them: '" + first.obstacle + "' at " + first.place + " " +
         first.reason + "; " + first.remedy;
}

std::vector<MissedDots> missedDots(const RecoverReport& report) {
  std::vector<MissedDots> groups;
  for (const RecoveredDot& dot : report.dots) {
    if (dot.width != DotWidth::Missed && !dot.isOneSided())
      continue;
    const auto alike = llvm::find_if(groups, [&](const MissedDots& group) {
      const RecoveredDot& first = group.dots.front();
      return group.isOneSided == dot.isOneSided() && first.obstacle == dot.obstacle &&
             first.reason == dot.reason;
    });
    if (alike == groups.end())
      groups.push_back({.dots = {dot}, .isOneSided = dot.isOneSided()});
    else
      alike->dots.push_back(dot);
  }
  return groups;
}

std::vector<std::string> differingDots(const RecoverReport& report) {
  std::vector<std::string> lines;
  for (const RecoveredDot& dot : report.dots)
    if (!dot.note.empty())
      lines.push_back(nameAndPlace(dot) + ", whose scales are recovered, has " + dot.note);
  return lines;
}

std::size_t countDots(const std::vector<MissedDots>& groups) {
  llvm::DenseSet<mlir::Location> recovered;
  for (const MissedDots& group : groups)
    for (const RecoveredDot& dot : group.dots)
      if (group.isRecovered)
        recovered.insert(dot.location);
  std::size_t count = 0;
  for (const MissedDots& group : groups)
    count += llvm::count_if(group.dots, [&](const RecoveredDot& dot) {
      return !group.isOneSided || !recovered.contains(dot.location);
    });
  return count;
}

/// Locations of products that are narrow already.
static llvm::DenseSet<mlir::Location> narrowProducts(mlir::ModuleOp module) {
  llvm::DenseSet<mlir::Location> places;
  module.walk([&](mlir::Operation* op) {
    const bool isDotOfCodes =
        llvm::isa<stablehlo::DotGeneralOp>(op) && llvm::all_of(op->getOperandTypes(), isNarrow);
    if (isDotOfCodes || llvm::isa<ir::DotGeneralOp, ir::FusedDotOp>(op))
      places.insert(op->getLoc());
  });
  return places;
}

std::vector<MissedDots> missedDots(mlir::ModuleOp module, llvm::StringRef function) {
  if (!hasNarrowFloats(module))
    return {};
  mlir::OwningOpRef<mlir::ModuleOp> copy = module.clone();
  const Diagnostics unheard(*module.getContext());
  openCalls(*copy); // first: inlining changes the locations that are compared
  const llvm::DenseSet<mlir::Location> before = narrowProducts(*copy);
  RecoverReport report = recoverScaled(*copy);
  std::erase_if(report.dots, [&](const RecoveredDot& dot) {
    return !function.empty() && dot.function != function;
  });
  std::vector<MissedDots> groups = missedDots(report);
  MissedDots recovered{.dots = {}, .isRecovered = true};
  for (const RecoveredDot& dot : report.dots)
    if (dot.width == DotWidth::Narrow && !before.contains(dot.location))
      recovered.dots.push_back(dot);
  if (!recovered.dots.empty())
    groups.push_back(std::move(recovered));
  return groups;
}

} // namespace octavo::transforms
