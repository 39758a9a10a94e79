// `octavo run --explain-compile`: reports what was compiled and what was not (docs/commands/run.md
// has the schema of the JSON).
#pragma once

#include "tools/octavo/program/RunReport.h"

#include "octavo/Program/Values/Explanation.h"

#include <optional>
#include <span>
#include <string>

namespace octavo::tools {

/// A function and what became of it when it was compiled.
struct ExplainedFunction {
  std::string name;
  program::Explanation explanation;
};

/// `drops` counts tensors of the whole program; nullopt if --drop-scales was not given.
std::string explanationText(const std::string& program, const std::optional<DropCounts>& drops,
                            std::span<const ExplainedFunction> functions);
std::string explanationJson(const std::string& program, const std::string& backend,
                            const std::optional<DropCounts>& drops,
                            std::span<const ExplainedFunction> functions);

} // namespace octavo::tools
