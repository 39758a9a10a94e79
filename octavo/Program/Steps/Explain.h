// Describes a compiled program: counts of its steps and operations, and a listing of its steps.
#pragma once

#include "octavo/Program/Steps/Program.h"
#include "octavo/Program/Values/Explanation.h"

namespace octavo::program {

/// The explanation of a program, with sizes at batch size 1.
Explanation explain(const Program& program);

/// A listing for `--dump`: each step with its operation and its accesses, nested steps indented
/// below the step that runs them; then all slots.
std::string stepsText(const Program& program);

} // namespace octavo::program
