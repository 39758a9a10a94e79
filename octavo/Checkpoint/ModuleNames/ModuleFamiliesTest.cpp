#include "octavo/Checkpoint/ModuleNames/ModuleFamilies.h"

#include "octavo/Checkpoint/ModuleNames/Experts.h"

#include <gtest/gtest.h>

#include <set>

namespace octavo::checkpoint {
namespace {

/// Whether readers run all of these modules as one product.
bool areOne(std::initializer_list<const char*> modules) {
  std::set<std::optional<std::string>> groups;
  for (const char* module : modules)
    groups.insert(fusedGroup(module));
  return groups.size() == 1 && groups.begin()->has_value();
}

TEST(ModuleFamilies, ProjectionsOfOneParentAreOneProduct) {
  EXPECT_TRUE(areOne({"model.layers.0.self_attn.q_proj", "model.layers.0.self_attn.k_proj",
                      "model.layers.0.self_attn.v_proj"}));
  EXPECT_TRUE(areOne({"l.0.mlp.experts.3.w1", "l.0.mlp.experts.3.w3"}));
  EXPECT_TRUE(areOne({"l.0.linear_attn.in_proj_qkv", "l.0.linear_attn.in_proj_z"}));
  EXPECT_TRUE(areOne({"l.0.linear_attn.in_proj_b", "l.0.linear_attn.in_proj_a"}));
  EXPECT_TRUE(areOne({"l.0.self_attn.q_a_proj", "l.0.self_attn.kv_a_proj_with_mqa"}));
  EXPECT_TRUE(areOne({"layers.0.attn.wq_a", "layers.0.attn.wkv"}));
  EXPECT_TRUE(areOne({"layers.0.attn.compressor.wkv", "layers.0.attn.compressor.wgate"}));
  EXPECT_TRUE(areOne({"blocks.0.attn1.to_q", "blocks.0.attn1.to_k", "blocks.0.attn1.to_v"}));
  EXPECT_TRUE(areOne({"b.0.attn.add_q_proj", "b.0.attn.add_k_proj"}));
  EXPECT_TRUE(areOne({"q_proj", "k_proj"})) << "without a parent";
}

TEST(ModuleFamilies, OthersAreNot) {
  EXPECT_FALSE(areOne({"l.0.linear_attn.in_proj_qkv", "l.0.linear_attn.in_proj_b"}));
  EXPECT_FALSE(areOne({"l.0.self_attn.q_proj", "l.1.self_attn.q_proj"}));
  EXPECT_FALSE(areOne({"l.0.mlp.experts.2.gate_proj", "l.0.mlp.experts.3.up_proj"}));
  EXPECT_FALSE(areOne({"l.0.attn.wq_a", "l.0.attn.compressor.wkv"}));
  EXPECT_FALSE(areOne({"l.0.compressor.kv_proj", "l.0.compressor.q_a_proj"}));
  for (const char* module :
       {"l.0.self_attn.o_proj", "l.0.mlp.down_proj", "l.0.attn.wq_b", "l.0.linear_attn.out_proj",
        "l.0.in_proj_qkvz", "blocks.0.attn2.to_q", "l.0.w2", "lm_head", "", "."})
    EXPECT_EQ(fusedGroup(module), std::nullopt) << module;
}

std::optional<WideFamily::Kind> kindOf(const char* module) {
  const WideFamily* family = wideFamily(module);
  return family ? std::optional(family->kind) : std::nullopt;
}

TEST(ModuleFamilies, RoutersUnderAllTheirNames) {
  for (const char* module :
       {"l.0.mlp.gate", "l.0.block_sparse_moe.gate", "l.0.mlp.gate.wg", "l.0.mlp.router_linear",
        "l.0.mlp.gate_linear", "l.0.mlp.shared_expert_gate", "l.0.feed_forward.router",
        "l.0.router.proj", "l.0.router.layer", "l.0.ffn.moe_gate", "l.0.mixer.gate",
        "l.0.mlp.router.classifier", "l.0.moe.expert_gate", "l.0.mlp.primary_router", "gate"})
    EXPECT_EQ(kindOf(module), WideFamily::Kind::Router) << module;
  for (const char* module :
       {"l.0.mlp.gate_proj", "l.0.mlp.gate_up_proj", "l.0.moe.gate_proj", "l.0.self_attn.g_proj",
        "l.0.mlp.experts.0.gate_proj", "l.0.attn.wgate", "l.0.mlp.aggregate", "l.0.mlp.gates.up"})
    EXPECT_EQ(kindOf(module), std::nullopt) << module;
}

TEST(ModuleFamilies, OthersThatStayWide) {
  using Kind = WideFamily::Kind;
  EXPECT_EQ(kindOf("l.0.self_attn.indexer.weights_proj"), Kind::Indexer);
  EXPECT_EQ(kindOf("l.0.self_attn.indexer.wk"), Kind::Indexer);
  EXPECT_EQ(kindOf("l.0.self_attn.indexer.wq_b"), std::nullopt);
  EXPECT_EQ(kindOf("model.layers.61.eh_proj"), Kind::Draft);
  EXPECT_EQ(kindOf("mtp.fc"), Kind::Draft);
  EXPECT_EQ(kindOf("visual.mlp.fc"), std::nullopt);
  EXPECT_EQ(kindOf("lm_head"), Kind::Head);
  EXPECT_EQ(kindOf("language_model.lm_head"), Kind::Head);
  EXPECT_EQ(kindOf("output"), Kind::Head);
  EXPECT_EQ(kindOf("l.0.attention.output"), std::nullopt);
  EXPECT_EQ(kindOf("head"), Kind::Head);
  EXPECT_EQ(kindOf("model.layers.61.shared_head.head"), Kind::Head);
  EXPECT_EQ(kindOf("model.visual.pos_embed"), Kind::Embedding);
  EXPECT_EQ(kindOf("tok_emb"), Kind::Embedding);
  EXPECT_EQ(kindOf("encoder.relative_attention_bias"), Kind::Embedding);
  EXPECT_EQ(kindOf("model.norm"), Kind::Normalization);
}

TEST(ModuleFamilies, EveryRowHasASource) {
  for (const FusedFamily& family : fusedFamilies())
    EXPECT_FALSE(family.source.empty() || family.members[1].empty()) << family.name;
  for (const WideFamily& family : wideFamilies())
    EXPECT_FALSE(family.source.empty() || family.why.empty()) << family.word;
}

TEST(Experts, OfAModule) {
  const auto expert = expertOf("model.layers.3.mlp.experts.12.up_proj");
  ASSERT_TRUE(expert);
  EXPECT_EQ(expert->experts, "model.layers.3.mlp.experts");
  EXPECT_EQ(expert->number, 12u);
  EXPECT_EQ(expert->part, "up_proj");
  EXPECT_EQ(expertOf("experts.0.w1")->experts, "experts");
  EXPECT_EQ(expertOf("l.0.moe.local_experts.7.mlp.w1")->part, "mlp.w1");
  for (const char* module :
       {"l.0.mlp.experts.up_proj", "l.0.mlp.experts.3", "l.0.shared_experts.w1",
        "l.0.experts.1a.w1", "l.0.experts.99999999999999999999.w1"})
    EXPECT_FALSE(expertOf(module)) << module;
}

} // namespace
} // namespace octavo::checkpoint
