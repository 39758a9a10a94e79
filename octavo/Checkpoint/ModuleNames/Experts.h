// Recognizes experts by name: stacked in one tensor, as transformers stores gpt-oss and Llama 4, or
// a few modules for each expert.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace octavo::checkpoint {

/// Whether `parameter` of `module` stacks all experts. Readers know stacks only by these names: a
/// module "experts" with "gate_up_proj" or "down_proj". The plain tensor is [E, K, N]:
/// PlainAxes::Swapped.
bool isExpertStack(std::string_view module, std::string_view parameter);

/// A part of one expert: "mlp.experts.3.up_proj" is the part "up_proj" of expert 3 of
/// "mlp.experts".
struct Expert {
  std::string_view experts;
  std::uint32_t number;
  std::string_view part;
};
/// nullopt if `module` is not part of one expert.
std::optional<Expert> expertOf(std::string_view module);

/// The module of all experts to which `module` belongs: "mlp.experts" for "mlp.experts.3.up_proj".
/// Empty for other modules.
std::string_view expertsOf(std::string_view module);

} // namespace octavo::checkpoint
