// What a lowered program consists of, counted.
#pragma once

#include "octavo/Conversion/Steps/Lowering.h"
#include "octavo/Execution/Explanation.h"

namespace octavo::conversion {

execution::Explanation explain(const Program& program);

} // namespace octavo::conversion
