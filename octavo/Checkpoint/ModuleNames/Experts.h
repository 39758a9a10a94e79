// Experts of a layer: in one tensor, as transformers keeps those of gpt-oss and Llama 4, or a few
// modules each.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::checkpoint {

/// Whether `parameter` of `module` is such a stack, which readers know by these names alone:
/// "experts" and "gate_up_proj" or "down_proj". Plain it is [E, K, N]: PlainAxes::Swapped.
bool isExpertStack(std::string_view module, std::string_view parameter);

/// What "mlp.experts.3.up_proj" says: it is the part "up_proj" of expert 3 of "mlp.experts".
struct Expert {
  std::string_view experts;
  std::uint32_t number;
  std::string_view part;
};
/// Nothing for a module that is no part of one expert.
std::optional<Expert> expertOf(std::string_view module);

/// The module of all experts of which `module` is a part of one: "mlp.experts" of
/// "mlp.experts.3.up_proj". Empty for other modules.
std::string_view expertsOf(std::string_view module);

} // namespace octavo::checkpoint
