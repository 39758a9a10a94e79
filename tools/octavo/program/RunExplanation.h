// `octavo run --explain-compile`: what was compiled and what was not (docs/commands/run.md has the
// schema of the JSON).
#pragma once

#include "octavo/Execution/Explanation.h"

#include <span>
#include <string>

namespace octavo::tools {

struct ExplainedFunction {
  std::string name;
  execution::Explanation explanation;
};

std::string explanationText(const std::string& program,
                            std::span<const ExplainedFunction> functions);
std::string explanationJson(const std::string& program, const std::string& backend,
                            std::span<const ExplainedFunction> functions);

} // namespace octavo::tools
