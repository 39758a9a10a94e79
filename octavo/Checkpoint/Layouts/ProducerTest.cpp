// Reads checkpoints that the producers' own tools wrote
// (test/checkpoints/make_producer_checkpoints.py) and compares layout, format and values with what
// the tools state.
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Numerics/Conversion.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <set>

namespace octavo::checkpoint {
namespace {

namespace fs = std::filesystem;

/// How a tool computes the values that it states.
enum class Stated {
  InBf16, ///< rounded to BF16 at the end
  InF32,  ///< in f32, from scales before they were stored, or in another order of operations
};

struct Case {
  const char* folder;
  const char* layout;
  const char* format;
  Activations::Kind activations;
  Stated stated;
  const char* kvCache = "";
};

using Kind = Activations::Kind;
constexpr auto kCases = std::to_array<Case>({
    {"compressed-tensors-fp8", "compressed-tensors", "fp8_tensor", Kind::Static, Stated::InBf16},
    {"compressed-tensors-fp8_dynamic", "compressed-tensors", "fp8_row", Kind::Dynamic,
     Stated::InBf16},
    {"compressed-tensors-fp8_block", "compressed-tensors", "", Kind::Dynamic, Stated::InBf16},
    {"compressed-tensors-nvfp4", "compressed-tensors", "nvfp4", Kind::Static, Stated::InBf16},
    {"compressed-tensors-nvfp4a16", "compressed-tensors", "nvfp4", Kind::None, Stated::InBf16},
    {"compressed-tensors-mxfp4", "compressed-tensors", "mxfp4", Kind::Dynamic, Stated::InBf16},
    {"compressed-tensors-mxfp6a16", "compressed-tensors", "mxfp6_e2m3", Kind::None, Stated::InBf16},
    {"compressed-tensors-mxfp8", "compressed-tensors", "mxfp8_e4m3", Kind::Dynamic, Stated::InBf16},
    {"modelopt-fp8", "modelopt", "fp8_tensor", Kind::Static, Stated::InF32, "fp8"},
    {"modelopt-fp8_pc_pt", "modelopt", "fp8_row", Kind::Dynamic, Stated::InF32},
    {"modelopt-fp8_pb_wo", "modelopt", "fp8_block", Kind::None, Stated::InF32},
    {"modelopt-nvfp4", "modelopt", "nvfp4", Kind::Static, Stated::InF32},
    {"modelopt-mxfp8", "modelopt", "mxfp8_e4m3", Kind::Dynamic, Stated::InF32},
    {"quark-fp8", "quark", "fp8_tensor", Kind::Static, Stated::InBf16, "fp8"},
    {"quark-fp8_channel", "quark", "fp8_row", Kind::Dynamic, Stated::InBf16},
    {"quark-mxfp4", "quark", "mxfp4", Kind::Dynamic, Stated::InBf16},
    {"quark-mxfp6_e2m3", "quark", "mxfp6_e2m3", Kind::None, Stated::InBf16},
    {"quark-mxfp6_e3m2", "quark", "mxfp6_e3m2", Kind::None, Stated::InBf16},
});

const fs::path kFolder = fs::path(OCTAVO_SOURCE_DIR) / "test/checkpoints";

/// An f32 value rounded to BF16, ties to even.
float toBf16(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, 4);
  bits += 0x7fff + (bits >> 16 & 1);
  bits &= 0xffff0000;
  std::memcpy(&x, &bits, 4);
  return x;
}

class ProducerTest : public testing::TestWithParam<Case> {};

TEST_P(ProducerTest, IsReadWithItsValues) {
  const Case& c = GetParam();
  const auto folder = Folder::open(kFolder / c.folder);
  ASSERT_TRUE(folder) << folder.error().message();
  Findings findings;
  const DetectedLayout detected = detectLayout(*folder, findings);
  EXPECT_EQ(detected.layout->name(), c.layout) << detected.reason;
  const Inventory inventory = detected.layout->read(*folder, findings);
  for (const Finding& finding : findings)
    // The files are parts of a model: lists of the configuration also name modules that are not in
    // them.
    EXPECT_EQ(finding.rule.text(), "ignore-matches-nothing")
        << finding.tensor << " " << finding.what;
  EXPECT_EQ(inventory.kvCacheFormat, c.kvCache);
  EXPECT_EQ(inventory.kvScales.size(), *c.kvCache ? 1u : 0u);
  for (const KvScales& scales : inventory.kvScales)
    EXPECT_TRUE(scales.key && scales.value) << scales.module;

  ASSERT_EQ(inventory.layers.size(), 1u);
  const Layer& layer = inventory.layers[0];
  EXPECT_EQ(layer.format ? layer.format->name : "", c.format);
  EXPECT_EQ(layer.activations.kind, c.activations);
  EXPECT_EQ(layer.inputScale.has_value(), c.activations == Kind::Static);
  const auto reader = LayerReader::open(layer);
  ASSERT_TRUE(reader) << reader.error().message();
  std::vector<float> values(static_cast<std::size_t>(reader->rows() * reader->columns()));
  Fetched fetched;
  ASSERT_TRUE(reader->values(0, reader->rows(), values.data(), fetched));

  const auto stated =
      SafetensorsFile::open(kFolder / (std::string(c.folder) + ".expected.safetensors"));
  ASSERT_TRUE(stated) << stated.error().message();
  const SafetensorsEntry* entry = stated->find(layer.name + ".weight");
  ASSERT_TRUE(entry);
  ASSERT_EQ(entry->shape, layer.shape);
  std::vector<float> expected(values.size());
  std::memcpy(expected.data(), stated->bytes(*entry)->data(), expected.size() * sizeof(float));
  // f32 arithmetic in another order: a few roundings of 2^-24 each.
  const float tolerance = c.stated == Stated::InF32 ? 0x1p-21f : 0;
  std::size_t nonzero = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const float found = c.stated == Stated::InBf16 ? toBf16(values[i]) : values[i];
    ASSERT_LE(std::fabs(found - expected[i]), tolerance * std::fabs(expected[i])) << i;
    nonzero += found != 0;
  }
  EXPECT_GT(nonzero, values.size() / 2);
}

INSTANTIATE_TEST_SUITE_P(All, ProducerTest, testing::ValuesIn(kCases), [](const auto& info) {
  std::string name = info.param.folder;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(ProducerListTest, EveryCheckpointIsTested) {
  std::set<std::string> listed, stored;
  for (const Case& c : kCases)
    listed.insert(c.folder);
  for (const auto& entry : fs::directory_iterator(kFolder))
    if (entry.is_directory())
      stored.insert(entry.path().filename().string());
  EXPECT_EQ(listed, stored);
}

} // namespace
} // namespace octavo::checkpoint
