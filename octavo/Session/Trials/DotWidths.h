// Which dots of a program multiply scaled tensors, and what keeps those that look narrow from it:
// what `octavo explain` says (docs/commands/explain.md has the schema).
#pragma once

#include "octavo/Transforms/Recover/MissedDots.h"
#include "octavo/Transforms/Recover/RecoverScaled.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace octavo::session {

struct DotWidths {
  transforms::RecoverReport report;
  std::int64_t droppedScales = 0; ///< tensors that --drop-scales would leave wide
};

/// Of a program, whose calls are then inlined and whose scaled tensors are recovered.
llvm::Expected<DotWidths> findDotWidths(mlir::ModuleOp program);

/// `narrow`, `one-sided`, `missed` or `wide`.
std::string_view nameOf(const transforms::RecoveredDot& dot);
/// What keeps the dots of a group wide.
std::string reasonOf(const transforms::MissedDots& group);

nlohmann::ordered_json json(const DotWidths& widths);

} // namespace octavo::session
