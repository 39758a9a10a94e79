// What a lowered program consists of, counted.
#pragma once

#include "octavo/Execution/Explanation.h"
#include "octavo/Steps/Program.h"

namespace octavo::conversion {

execution::Explanation explain(const steps::Program& program);

/// Its steps, a line each, those of loops and branches below them; then its memory.
std::string stepsText(const steps::Program& program);

} // namespace octavo::conversion
