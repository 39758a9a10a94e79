// What a lowered program consists of, counted.
#pragma once

#include "octavo/Program/Steps/Program.h"
#include "octavo/Program/Values/Explanation.h"

namespace octavo::program {

Explanation explain(const Program& program);

/// Its steps, a line each, those of loops and branches below them; then its memory.
std::string stepsText(const Program& program);

} // namespace octavo::program
