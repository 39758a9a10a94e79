#include "octavo/Checkpoint/ModuleNames/ModuleFamilies.h"

#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <algorithm>

namespace octavo::checkpoint {

namespace {

// Rows with a parent precede rows without.
constexpr auto kFused = std::to_array<FusedFamily>({
    // clang-format off
    {"fused_wkv_wgate", {"wkv", "wgate"}, "compressor", "vLLM, models/deepseek_v4: packed_modules_mapping"},
    {"fused_wkv_wgate", {"kv_proj", "gate_proj"}, "compressor", "transformers' names of DeepSeek-V4; vLLM, models/deepseek_v4"},
    {"qkv_proj", {"q_proj", "k_proj", "v_proj"}, "", "vLLM, models/llama.py: packed_modules_mapping"},
    {"qkv_proj", {"wq", "wk", "wv"}, "", "Mistral's names; vLLM, models/mistral.py"},
    {"qkv_proj", {"query", "key", "value"}, "", "vLLM, models/bert.py"},
    {"gate_up_proj", {"gate_proj", "up_proj"}, "", "vLLM, models/llama.py: packed_modules_mapping"},
    {"gate_up_proj", {"c_fc_0", "c_fc_1"}, "", "vLLM, models/exaone.py"},
    {"w13", {"w1", "w3"}, "", "gate and up of Mixtral, Mistral and DeepSeek-V4; vLLM, layers/fused_moe"},
    {"fused_qkv_a_proj", {"q_a_proj", "kv_a_proj_with_mqa", "kv_proj"}, "", "vLLM, models/deepseek_v2.py: packed_modules_mapping"},
    {"fused_wqa_wkv", {"wq_a", "wkv", "wkv_a_with_mqa"}, "", "vLLM, models/deepseek_v4, models/mistral_large_3.py"},
    {"in_proj_qkvz", {"in_proj_qkv", "in_proj_z"}, "", "vLLM, models/qwen3_5.py: packed_modules_mapping"},
    {"in_proj_ba", {"in_proj_b", "in_proj_a"}, "", "vLLM, models/qwen3_5.py: packed_modules_mapping"},
    {"to_qkv", {"to_q", "to_k", "to_v"}, "", "vLLM-Omni, diffusion models: packed_modules_mapping", "attn2"},
    {"add_kv_proj", {"add_q_proj", "add_k_proj", "add_v_proj"}, "", "vLLM-Omni, diffusion models: packed_modules_mapping"},
    // clang-format on
});

constexpr std::string_view kHeadWhy = "the output head decides most of the quality";
constexpr std::string_view kEmbeddingWhy = "an embedding is looked up, not multiplied";
constexpr std::string_view kRouterWhy = "a router: small, and sensitive";
constexpr std::string_view kIndexerWhy = "weighs the heads of an indexer: readers keep it wide";
constexpr std::string_view kDraftWhy = "joins the inputs of a draft layer: readers keep it wide";

using WideKind = WideFamily::Kind;
using WideWhere = WideFamily::Where;
constexpr auto kWide = std::to_array<WideFamily>({
    // clang-format off
    {WideKind::Router, WideWhere::Word, "router", kRouterWhy, true, true, "vLLM, models/granitemoe.py, models/llama4.py, models/gpt_oss.py"},
    {WideKind::Router, WideWhere::Word, "gating", kRouterWhy, true, true, "names of routers: ReplicatedLinear with quant_config=None in vLLM's models"},
    {WideKind::Router, WideWhere::Qualified, "gate", kRouterWhy, true, true, "vLLM, models/mixtral.py, models/qwen2_moe.py, models/hunyuan_v1.py (gate.wg)"},
    {WideKind::Indexer, WideWhere::LastComponent, "weights_proj", kIndexerWhy, true, true, "vLLM, models/deepseek_v2.py, Indexer: quant_config=None"},
    {WideKind::Indexer, WideWhere::End, "indexer.wk", kIndexerWhy, true, false, "vLLM, models/deepseek_v2.py: one wide product with weights_proj, FP8 is widened as it loads"},
    {WideKind::Draft, WideWhere::LastComponent, "eh_proj", kDraftWhy, true, true, "vLLM, models/deepseek_mtp.py: nn.Linear"},
    {WideKind::Draft, WideWhere::End, "mtp.fc", kDraftWhy, true, false, "sglang, models/qwen3_next_mtp.py: nn.Linear; the owners' checkpoints"},
    {WideKind::Head, WideWhere::LastComponent, "lm_head", kHeadWhy, true, false, "the owners' checkpoints"},
    {WideKind::Head, WideWhere::LastComponent, "embed_out", kHeadWhy, true, false, "GPT-NeoX's name"},
    {WideKind::Head, WideWhere::Whole, "output", kHeadWhy, true, false, "Llama's and Mistral's own name"},
    {WideKind::Head, WideWhere::Whole, "head", kHeadWhy, true, false, "DeepSeek's own name"},
    {WideKind::Head, WideWhere::End, "shared_head.head", kHeadWhy, true, false, "vLLM, models/deepseek_mtp.py"},
    {WideKind::Embedding, WideWhere::Anywhere, "embed", kEmbeddingWhy, false, false, "nn.Embedding"},
    {WideKind::Embedding, WideWhere::Word, "emb", kEmbeddingWhy, false, false, "nn.Embedding"},
    {WideKind::Embedding, WideWhere::LastComponent, "wte", kEmbeddingWhy, false, false, "GPT-2's names"},
    {WideKind::Embedding, WideWhere::LastComponent, "wpe", kEmbeddingWhy, false, false, "GPT-2's names"},
    {WideKind::Embedding, WideWhere::LastComponent, "relative_attention_bias", kEmbeddingWhy, false, false, "T5: nn.Embedding"},
    {WideKind::Normalization, WideWhere::Anywhere, "norm", "a normalization", false, false, "RMSNorm and LayerNorm"},
    // clang-format on
});

/// Calls `visit` for the parts of `text` between separators until `visit` returns true; returns
/// whether it did.
template <typename Visit> bool anyPart(std::string_view text, char separator, const Visit& visit) {
  for (;;) {
    const std::size_t end = text.find(separator);
    if (visit(text.substr(0, end)))
      return true;
    if (end == std::string_view::npos)
      return false;
    text.remove_prefix(end + 1);
  }
}

/// Words that tell what a gate belongs to or that it is a matrix: "moe_gate", "gate_linear". Any
/// other word makes it a different module: "gate_proj", "gate_up_proj".
constexpr auto kQualifiers = std::to_array<std::string_view>(
    {"expert", "experts", "layer", "linear", "moe", "network", "shared", "weight"});

bool isQualified(std::string_view component, std::string_view word) {
  bool isThere = false;
  return !anyPart(component, '_', [&](std::string_view each) {
    isThere |= each == word;
    return each != word && std::ranges::find(kQualifiers, each) == kQualifiers.end();
  }) && isThere;
}

bool isAtEnd(std::string_view module, std::string_view end) {
  return module.ends_with(end) &&
         (module.size() == end.size() || module[module.size() - end.size() - 1] == '.');
}

bool isOf(const WideFamily& family, std::string_view module) {
  switch (family.where) {
  case WideWhere::LastComponent:
    return lastComponent(module) == family.word;
  case WideWhere::End:
    return isAtEnd(module, family.word);
  case WideWhere::Whole:
    return module == family.word;
  case WideWhere::Anywhere:
    return module.find(family.word) != std::string_view::npos;
  case WideWhere::Word:
    return anyPart(module, '.', [&](std::string_view component) {
      return anyPart(component, '_', [&](std::string_view word) { return word == family.word; });
    });
  case WideWhere::Qualified:
    return anyPart(module, '.',
                   [&](std::string_view component) { return isQualified(component, family.word); });
  }
  return false;
}

} // namespace

std::span<const FusedFamily> fusedFamilies() { return kFused; }

const FusedFamily* fusedFamily(std::string_view module) {
  const std::string_view last = lastComponent(module), parent = lastComponent(moduleOf(module));
  const auto found = std::ranges::find_if(kFused, [&](const FusedFamily& family) {
    return !last.empty() && (family.parent.empty() || family.parent == parent) &&
           (family.notUnder.empty() || family.notUnder != parent) &&
           std::ranges::find(family.members, last) != family.members.end();
  });
  return found == kFused.end() ? nullptr : &*found;
}

std::optional<std::string> fusedGroup(std::string_view module) {
  const FusedFamily* family = fusedFamily(module);
  if (!family)
    return std::nullopt;
  const std::size_t last = module.size() - lastComponent(module).size();
  return std::string(module.substr(0, last)).append(family->name);
}

std::span<const WideFamily> wideFamilies() { return kWide; }

const WideFamily* wideFamily(std::string_view module) {
  const auto found =
      std::ranges::find_if(kWide, [&](const WideFamily& family) { return isOf(family, module); });
  return found == kWide.end() ? nullptr : &*found;
}

} // namespace octavo::checkpoint
