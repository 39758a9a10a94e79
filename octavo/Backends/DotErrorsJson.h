// Where a quantized program's error comes from, as JSON (docs/commands/run.md has the schema).
#pragma once

#include "octavo/Backends/DotErrors.h"

#include <nlohmann/json_fwd.hpp>

namespace octavo::backends {

nlohmann::ordered_json json(const DotErrors& errors);

} // namespace octavo::backends
