#include "octavo/Checkpoint/Folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace octavo::checkpoint {
namespace {

namespace fs = std::filesystem;
using numerics::ElementType;
using numerics::IntegerType;
using numerics::Tensor;

class FolderTest : public testing::Test {
protected:
  FolderTest() {
    std::string name = (fs::temp_directory_path() / "octavo-folder-XXXXXX").string();
    base = fs::canonical(::mkdtemp(name.data()));
    root = base / "model";
    fs::create_directory(root);
  }
  ~FolderTest() override { fs::remove_all(base); }

  void shard(const std::string& name, const std::vector<std::string>& tensors) {
    const Tensor byte = Tensor::zeros(ElementType(IntegerType{8, true}), {4});
    std::vector<NamedTensor> named;
    for (const std::string& tensor : tensors)
      named.push_back({tensor, &byte});
    fs::create_directories((root / name).parent_path());
    ASSERT_TRUE(writeSafetensors(root / name, named));
  }
  void text(const std::string& name, const std::string& content) {
    std::ofstream(root / name) << content;
  }
  void index(const std::string& map) {
    text("model.safetensors.index.json",
         R"({"metadata":{"total_size":8},"weight_map":)" + map + "}");
  }
  void twoShards() {
    shard("model-00001-of-00002.safetensors", {"a", "b"});
    shard("model-00002-of-00002.safetensors", {"c"});
    index(R"({"c":"model-00002-of-00002.safetensors","a":"model-00001-of-00002.safetensors",)"
          R"("b":"model-00001-of-00002.safetensors"})");
  }

  void expectRefused(const std::vector<std::string>& words, const std::string& rule) {
    expectRefused(root, words);
    Findings findings;
    const auto damaged = Folder::openDamaged(root, findings);
    ASSERT_TRUE(damaged) << damaged.error().message();
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.rule.text() == rule && finding.severity == Severity::Error &&
             !finding.what.empty() && !finding.why.empty();
    })) << rule;
  }
  static void expectRefused(const fs::path& path, const std::vector<std::string>& words) {
    const auto folder = Folder::open(path);
    ASSERT_FALSE(folder);
    for (const std::string& word : words)
      EXPECT_NE(folder.error().message().find(word), std::string::npos)
          << word << " in " << folder.error().message();
  }

  fs::path base, root;
};

TEST_F(FolderTest, OpensShardsByTheirIndex) {
  twoShards();
  text("config.json", R"({"model_type":"x","quantization_config":{"quant_method":"fp8"}})");
  text("tokenizer.json", "{}");
  const auto folder = Folder::open(root);
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_EQ(folder->tensors().size(), 3u);
  ASSERT_NE(folder->find("c"), nullptr);
  EXPECT_EQ(folder->find("c")->shard, &folder->shard(1));
  EXPECT_EQ(folder->find("c")->size(), 4u);
  EXPECT_EQ(folder->find("d"), nullptr);
  EXPECT_EQ(folder->indexName(), "model.safetensors.index.json");
  EXPECT_EQ(folder->indexMetadata()["total_size"], 8);
  EXPECT_EQ(folder->quantizationConfig()["quant_method"], "fp8");
  EXPECT_TRUE(folder->quantConfig().is_null());
  EXPECT_EQ(std::vector(folder->otherFiles().begin(), folder->otherFiles().end()),
            std::vector<std::string>{"tokenizer.json"});
}

TEST_F(FolderTest, FilesOfSubfoldersGoWithACheckpointButThoseOfAnother) {
  shard("model.safetensors", {"a"});
  for (const char* name :
       {"1_Pooling/config.json", "templates/tools/long.jinja", ".cache/index.txt",
        "original/params.json", "original/consolidated.00.pth", "onnx/model.onnx"}) {
    std::filesystem::create_directories((root / name).parent_path());
    text(name, "{}");
  }
  const auto folder = Folder::open(root);
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_EQ(std::vector(folder->otherFiles().begin(), folder->otherFiles().end()),
            (std::vector<std::string>{"1_Pooling/config.json", "templates/tools/long.jinja"}));
}

TEST_F(FolderTest, OpensAFolderWithoutIndexAndASingleFile) {
  shard("model.safetensors", {"a"});
  shard("adapter.safetensors", {"z"});
  Findings findings;
  const auto folder = Folder::openDamaged(root, findings);
  ASSERT_TRUE(folder);
  EXPECT_EQ(folder->tensors().size(), 1u);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule.text(), "extra-shard");
  EXPECT_EQ(findings[0].file, "adapter.safetensors");

  const auto file = Folder::open(root / "adapter.safetensors");
  ASSERT_TRUE(file);
  EXPECT_TRUE(file->isSingleFile());
  EXPECT_NE(file->find("z"), nullptr);
  EXPECT_TRUE(file->quantizationConfig().is_null());
}

TEST_F(FolderTest, KnowsItsOwnFilesByAnySpelling) {
  twoShards();
  text("config.json", "{}");
  text("tokenizer.json", "{}");
  shard("scales.safetensors", {"s"});
  fs::create_directory(root / "logs");
  text("logs/last.txt", "");
  fs::create_symlink(root, base / "link");
  fs::create_symlink(root / "config.json", base / "config-link.json");
  fs::create_symlink(root / "tokenizer.json", base / "tokenizer-link.json");
  std::ofstream(base / "elsewhere.json") << "{}";
  fs::create_hard_link(root / "model-00002-of-00002.safetensors", base / "other.safetensors");
  const std::string first = "model-00001-of-00002.safetensors";
  for (const fs::path& opened : {root, root / first}) {
    const auto folder = Folder::open(opened);
    ASSERT_TRUE(folder) << folder.error().message();
    EXPECT_EQ(folder->ownFile(root / first), first);
    EXPECT_EQ(folder->ownFile(root / "logs" / ".." / first), first);
    EXPECT_EQ(folder->ownFile(base / "link" / "model.safetensors.index.json"),
              "model.safetensors.index.json");
    EXPECT_EQ(folder->ownFile(base / "config-link.json"), "config.json");
    EXPECT_EQ(folder->ownFile(base / "other.safetensors"), "model-00002-of-00002.safetensors");
    for (const char* other : {"scales.safetensors", "hf_quant_config.json", "new.json", "logs"})
      EXPECT_EQ(folder->ownFile(root / other), std::nullopt) << other;
    for (const char* other : {"hf_quant_config.json", "new.json", "logs", "config.json"})
      EXPECT_EQ(folder->otherFile(root / other), std::nullopt) << other;
    for (const char* other : {"scales.safetensors", "tokenizer.json", "logs/last.txt"})
      EXPECT_EQ(folder->otherFile(base / "link" / other), other);
    EXPECT_EQ(folder->otherFile(base / "tokenizer-link.json"), "tokenizer.json");
    EXPECT_EQ(folder->otherFile(base / "elsewhere.json"), std::nullopt);
  }
}

TEST_F(FolderTest, FindsTheQuantizationOfNestedConfigurations) {
  shard("model.safetensors", {"a"});
  text("config.json", R"({"text_config":{"quantization_config":{"quant_method":"fp8"}}})");
  EXPECT_EQ(Folder::open(root)->quantizationConfig()["quant_method"], "fp8");
  text("config.json", R"({"compression_config":{"quant_method":"compressed-tensors"}})");
  EXPECT_EQ(Folder::open(root)->quantizationConfig()["quant_method"], "compressed-tensors");
}

TEST_F(FolderTest, RefusesAnIndexThatLeavesTheFolder) {
  for (const char* place :
       {"../secret.safetensors", "/etc/secret.safetensors", "sub/../../secret.safetensors",
        "..\\\\secret.safetensors", "secret", "", "a\\u0000b.safetensors"}) {
    SCOPED_TRACE(place);
    shard("model-00001-of-00001.safetensors", {"b"});
    index(R"({"b":"model-00001-of-00001.safetensors","a":")" + std::string(place) + "\"}");
    expectRefused({"names a shard", "tensor \"a\"", "without \"..\""}, "outside-folder");
  }
}

TEST_F(FolderTest, RefusesLinksToElsewhere) {
  twoShards();
  fs::rename(root / "model-00002-of-00002.safetensors", base / "elsewhere.safetensors");
  fs::create_symlink(base / "elsewhere.safetensors", root / "model-00002-of-00002.safetensors");
  expectRefused({"model-00002", "points outside the checkpoint", "elsewhere"}, "outside-folder");

  fs::remove(root / "model-00002-of-00002.safetensors");
  fs::create_symlink("nowhere", root / "model-00002-of-00002.safetensors");
  expectRefused({"model-00002", "link is broken"}, "missing-shard");
}

TEST_F(FolderTest, FollowsLinksWithinTheFolder) {
  shard("store/one.safetensors", {"a"});
  fs::create_symlink("store/one.safetensors", root / "model.safetensors");
  const auto folder = Folder::open(root);
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_EQ(folder->tensors().size(), 1u);
}

TEST_F(FolderTest, FollowsTheLinksOfAHuggingFaceCacheToItsBlobsAlone) {
  shard("blobs/0123", {"a"});
  shard("refs/main", {"b"});
  fs::create_directories(root / "snapshots/rev");
  fs::create_symlink("../../blobs/0123", root / "snapshots/rev/model.safetensors");
  EXPECT_TRUE(Folder::open(root / "snapshots/rev"));
  fs::create_symlink("../../refs/main", root / "snapshots/rev/tokenizer.json");
  expectRefused(root / "snapshots/rev", {"tokenizer.json", "points outside the checkpoint"});
  // Only inside a cache: elsewhere, a folder beside one named blobs may be anything.
  fs::create_directories(root / "models/rev");
  fs::create_symlink("../../blobs/0123", root / "models/rev/model.safetensors");
  expectRefused(root / "models/rev", {"model.safetensors", "points outside the checkpoint"});
}

TEST_F(FolderTest, ShardsOfASubfolderAreReadAndFilesBesideThemTaken) {
  shard("sub/x.safetensors", {"a"});
  shard("other/y.safetensors", {"b"}); // a shard of another checkpoint
  text("sub/notes.txt", "");
  text("other/notes.txt", "");
  text("sub/.octavo-0123456789abcdef0123456789abcdef.part", "torn");
  text(".octavo-0123456789abcdef0123456789abcdef.part", "torn");
  index(R"({"a":"sub/x.safetensors"})");
  const auto folder = Folder::open(root);
  ASSERT_TRUE(folder) << folder.error().message();
  EXPECT_EQ(folder->shardNames()[0], "sub/x.safetensors");
  EXPECT_EQ(std::vector(folder->otherFiles().begin(), folder->otherFiles().end()),
            std::vector<std::string>{"sub/notes.txt"});
}

TEST_F(FolderTest, RefusesMissingAndDamagedShards) {
  twoShards();
  fs::remove(root / "model-00002-of-00002.safetensors");
  expectRefused({"model-00002", "missing"}, "missing-shard");
  text("model-00002-of-00002.safetensors", "torn");
  expectRefused({"model-00002", "too short", "4 bytes"}, "torn-shard");
}

TEST_F(FolderTest, RefusesNumberedShardsOfWhichSomeAreMissing) {
  for (const char* name : {"model-00001-of-00004", "model-00002-of-00004", "model-00004-of-00004"})
    shard(std::string(name) + ".safetensors", {name});
  expectRefused({"model-00003-of-00004.safetensors", "missing", "expected 4 shards", "found 3"},
                "missing-shard");
  shard("model-00003-of-00004.safetensors", {"c"});
  EXPECT_TRUE(Folder::open(root));
  // Names without a valid number, and series that count from 0.
  for (const char* name : {"adapter-of-2", "00-of-", "-of-1", "v2-1-of-00001", "last-0-of-1"})
    shard(std::string(name) + ".safetensors", {name});
  const auto folder = Folder::open(root);
  EXPECT_TRUE(folder) << folder.error().message();
  shard("more-00000-of-00003.safetensors", {"m0"});
  expectRefused({"more-00001-of-00003.safetensors", "found 1"}, "missing-shard");
}

TEST_F(FolderTest, RefusesAnIndexThatDisagreesWithItsShards) {
  twoShards();
  index(R"({"a":"model-00001-of-00002.safetensors","b":"model-00001-of-00002.safetensors",)"
        R"("c":"model-00001-of-00002.safetensors","d":"model-00002-of-00002.safetensors"})");
  fs::remove(root / "model-00002-of-00002.safetensors");
  shard("model-00002-of-00002.safetensors", {"c", "d"});
  expectRefused({"tensor \"c\"", "wrong shard", "expected model-00001", "found model-00002"},
                "misplaced-tensor");

  twoShards();
  shard("model-00002-of-00002.safetensors", {"c", "a"});
  expectRefused({"tensor \"a\"", "two shards"}, "duplicate-tensor");

  twoShards();
  shard("model-00002-of-00002.safetensors", {"e"});
  expectRefused({"tensor \"c\"", "that no shard has"}, "missing-tensor");
}

TEST_F(FolderTest, NotesTensorsThatTheIndexLeavesOut) {
  twoShards();
  shard("model-00002-of-00002.safetensors", {"c", "e"});
  Findings findings;
  ASSERT_TRUE(Folder::openDamaged(root, findings));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].rule.text(), "unlisted-tensor");
  EXPECT_EQ(findings[0].tensor, "e");
  EXPECT_TRUE(Folder::open(root));
}

TEST_F(FolderTest, RefusesAnIndexThatIsNone) {
  shard("model.safetensors", {"a"});
  for (const char* json : {"", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{"a":1}})",
                           R"({"weight_map":{"a":"model.safetensors","a":"model.safetensors"}})"}) {
    SCOPED_TRACE(json);
    text("model.safetensors.index.json", json);
    expectRefused({"model.safetensors.index.json"}, "bad-index");
  }
}

TEST_F(FolderTest, RefusesAConfigurationThatIsNone) {
  shard("model.safetensors", {"a"});
  for (const char* json : {"", "[]", "{\"a\":1,\"a\":2}", "{\"a\":"}) {
    SCOPED_TRACE(json);
    text("config.json", json);
    expectRefused({"config.json"}, "unreadable-config");
  }
}

TEST_F(FolderTest, RefusesOtherFormsOfWeightsWithTheWayOut) {
  text("pytorch_model.bin", "PK");
  expectRefused(root, {"no safetensors file", "pytorch_model.bin", "save_file"});
  expectRefused(root / "pytorch_model.bin", {"PyTorch pickle", "weights_only=True"});
  text("model.gguf", "GGUF");
  expectRefused(root / "model.gguf", {"GGUF", "safetensors"});
  expectRefused(base / "nowhere", {"no such file or folder"});
  fs::remove(root / "pytorch_model.bin");
  fs::remove(root / "model.gguf");
  expectRefused(root, {"no safetensors file", "name the folder of a checkpoint"});
}

TEST_F(FolderTest, RefusesTwoIndicesWithoutAMainOne) {
  twoShards();
  fs::rename(root / "model.safetensors.index.json", root / "x.safetensors.index.json");
  fs::copy(root / "x.safetensors.index.json", root / "y.safetensors.index.json");
  expectRefused(root, {"more than one index", "x.safetensors", "y.safetensors"});
}

} // namespace
} // namespace octavo::checkpoint
