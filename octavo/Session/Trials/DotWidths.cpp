#include "octavo/Session/Trials/DotWidths.h"

#include "octavo/Session/Binding/Failure.h"
#include "octavo/Transforms/Passes.h"
#include "octavo/Transforms/Recover/DropScales.h"
#include "octavo/Transforms/Walks/Inlining.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace octavo::session {

using Json = nlohmann::ordered_json;
using transforms::DotWidth;
using transforms::RecoveredDot;
using transforms::RecoverReport;

llvm::Expected<DotWidths> findDotWidths(mlir::ModuleOp program) {
  // Scales may be arguments of a nested function (jit within jit in JAX) or of a composite.
  mlir::PassManager legalizing(program.getContext());
  transforms::LegalizeCompositesOptions composites;
  composites.keep = {"xla.scaled_dot"};
  legalizing.addPass(transforms::createLegalizeComposites(composites));
  if (mlir::failed(legalizing.run(program)))
    return session::failure("its composites cannot be made calls");
  transforms::inlineCalls(program); // unless the program would become too large
  DotWidths widths{.report = transforms::recoverScaled(program)};
  const mlir::OwningOpRef<mlir::ModuleOp> copy = program.clone();
  widths.droppedScales = transforms::dropScales(*copy).dropped();
  return widths;
}

std::string_view nameOf(const RecoveredDot& dot) {
  switch (dot.width) {
  case DotWidth::Narrow:
    return dot.isOneSided() ? "one-sided" : "narrow";
  case DotWidth::Missed:
    return "missed";
  case DotWidth::Wide:
    return "wide";
  }
  llvm_unreachable("a width");
}

std::string reasonOf(const transforms::MissedDots& group) {
  return fmt::format("{} {}", group.dots.front().obstacle, group.dots.front().reason);
}

Json json(const DotWidths& widths) {
  const RecoverReport& report = widths.report;
  const auto orNull = [](const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
  };
  Json dots = Json::array(), reasons = Json::array();
  for (const RecoveredDot& dot : report.dots)
    dots.push_back({{"name", dot.name},
                    {"function", dot.function},
                    {"is", nameOf(dot)},
                    {"lhs", orNull(dot.lhs)},
                    {"rhs", orNull(dot.rhs)},
                    {"multiply_adds", dot.multiplyAdds ? Json(*dot.multiplyAdds) : Json(nullptr)},
                    {"obstacle", orNull(dot.obstacle)},
                    {"place", orNull(dot.place)},
                    {"reason", orNull(dot.reason)},
                    {"remedy", orNull(dot.remedy)},
                    {"note", orNull(dot.note)}});
  for (const transforms::MissedDots& group : transforms::missedDots(report))
    reasons.push_back({{"reason", reasonOf(group)},
                       {"dots", group.dots.size()},
                       {"is", group.isOneSided ? "one-sided" : "missed"}});
  const auto share = report.narrowShare();
  return {{"narrow", report.count(DotWidth::Narrow)},
          {"one_sided", report.countOneSided()},
          {"missed", report.count(DotWidth::Missed)},
          {"wide", report.count(DotWidth::Wide)},
          {"narrow_share", share ? Json(*share) : Json(nullptr)},
          {"missed_by_reason", reasons},
          {"droppable_scales", widths.droppedScales},
          {"dots", dots}};
}

} // namespace octavo::session
