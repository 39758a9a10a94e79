// What a lowered program consists of, counted.
#pragma once

#include "octavo/Conversion/Steps/Lowering.h"
#include "octavo/Execution/Explanation.h"

namespace octavo::conversion {

execution::Explanation explain(const Program& program);

/// Its steps, a line each, those of loops and branches below them; then its memory.
std::string stepsText(const Program& program);

} // namespace octavo::conversion
