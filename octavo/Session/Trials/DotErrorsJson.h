// Where a quantized program's error comes from, as JSON (docs/commands/run.md has the schema).
#pragma once

#include "octavo/Session/Trials/DotErrors.h"

#include <nlohmann/json_fwd.hpp>

namespace octavo::session {

nlohmann::ordered_json json(const DotErrors& errors);

} // namespace octavo::session
