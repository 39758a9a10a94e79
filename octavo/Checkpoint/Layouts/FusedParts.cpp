#include "octavo/Checkpoint/Layouts/FusedParts.h"

#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <algorithm>
#include <array>

namespace octavo::checkpoint {

namespace {

// Order of parts: gate before up; query, then key, then value, as in vLLM's
// MergedColumnParallelLinear and QKVParallelLinear. query_key_value is excluded: GPT-NeoX and
// Falcon store its rows head by head.
constexpr auto kGateAndUp = std::to_array<std::string_view>(
    {"gate_up_proj", "gate_up", "gate_and_up_proj", "w13", "w13_weight"});
constexpr auto kQueryKeyValue =
    std::to_array<std::string_view>({"qkv_proj", "qkv", "Wqkv", "to_qkv", "qkv_proj_weight"});

bool isOf(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::vector<std::int64_t> queryKeyValueRows(std::int64_t rows, const Json& config) {
  const Json& text = memberAt(config, {"text_config"});
  const Json& body = text.is_object() ? text : config;
  const auto heads = integerAt(body, "num_attention_heads");
  if (!heads)
    return rows % 3 == 0 ? std::vector<std::int64_t>(3, rows / 3) : std::vector<std::int64_t>();
  const std::int64_t kvHeads = integerAt(body, "num_key_value_heads").value_or(*heads);
  constexpr std::int64_t kMost = 1 << 24;
  const std::int64_t all = *heads + 2 * kvHeads;
  if (*heads <= 0 || *heads > kMost || kvHeads <= 0 || kvHeads > kMost || rows % all != 0)
    return {};
  const std::int64_t size = rows / all;
  if (const auto stated = integerAt(body, "head_dim"); stated && *stated != size)
    return {};
  return {*heads * size, kvHeads * size, kvHeads * size};
}

} // namespace

std::vector<std::int64_t> fusedPartRows(std::string_view module, std::string_view parameter,
                                        std::int64_t rows, std::int64_t count, const Json& config) {
  const std::string_view name = parameter == "weight" ? lastComponent(module) : parameter;
  if (count == 2 && isOf(kGateAndUp, name))
    // In gpt-oss, rows of gate and up alternate.
    return rows % 2 == 0 && stringAt(config, "model_type") != "gpt_oss"
               ? std::vector<std::int64_t>(2, rows / 2)
               : std::vector<std::int64_t>();
  return count == 3 && isOf(kQueryKeyValue, name) ? queryKeyValueRows(rows, config)
                                                  : std::vector<std::int64_t>();
}

} // namespace octavo::checkpoint
