// Modules that choose experts, as their names tell.
#pragma once

#include <string_view>

namespace octavo::checkpoint {

/// Whether a module is a router of experts, or the gate of a shared expert: a few rows that decide
/// much, and that readers build without quantization ("mlp.gate", "router", "router.layer",
/// "shared_expert_gate"; not "gate_proj").
bool isRouter(std::string_view module);

} // namespace octavo::checkpoint
