// Serializes DotErrors as JSON (schema: docs/commands/run.md).
#pragma once

#include "octavo/Session/Trials/DotErrors.h"

#include <nlohmann/json_fwd.hpp>

namespace octavo::session {

/// The errors as JSON.
nlohmann::ordered_json json(const DotErrors& errors);

} // namespace octavo::session
