// `octavo run --explain-compile`: what was compiled and what was not (docs/commands/run.md has the
// schema of the JSON).
#pragma once

#include "tools/octavo/program/RunReport.h"

#include "octavo/Program/Values/Explanation.h"

#include <optional>
#include <span>
#include <string>

namespace octavo::tools {

struct ExplainedFunction {
  std::string name;
  program::Explanation explanation;
};

/// `drops` is of the whole program; nothing where it was not asked for.
std::string explanationText(const std::string& program, const std::optional<DropCounts>& drops,
                            std::span<const ExplainedFunction> functions);
std::string explanationJson(const std::string& program, const std::string& backend,
                            const std::optional<DropCounts>& drops,
                            std::span<const ExplainedFunction> functions);

} // namespace octavo::tools
