// The dots of a program that multiply scaled tensors, and what prevents the others that look
// narrow: the contents of `octavo explain` (schema: docs/commands/explain.md).
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

/// What findDotWidths found.
struct DotWidths {
  transforms::RecoverReport report;
  std::int64_t droppedScales = 0; ///< tensors that --drop-scales would not quantize
};

/// Finds the widths of all dots. Modifies the program: inlines its calls and recovers its scaled
/// tensors.
llvm::Expected<DotWidths> findDotWidths(mlir::ModuleOp program);

/// `narrow`, `one-sided`, `missed` or `wide`.
std::string_view nameOf(const transforms::RecoveredDot& dot);
/// Why the dots of a group are wide.
std::string reasonOf(const transforms::MissedDots& group);

/// The widths as JSON.
nlohmann::ordered_json json(const DotWidths& widths);

} // namespace octavo::session
