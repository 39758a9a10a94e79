// Projections that readers run as one product: they share an outer scale.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// A name that the modules of one fused product have in common; nothing for a module that is in
/// none. Modules of one parent are fused: "l.0.q_proj" and "l.0.k_proj".
std::optional<std::string> fusedGroup(std::string_view module);

} // namespace octavo::checkpoint
