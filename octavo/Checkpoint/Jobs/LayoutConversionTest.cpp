// Converts between every pair of layouts, in every format that both write, there and back, bit for
// bit.
#include "octavo/Checkpoint/Jobs/LayoutConversion.h"

#include "octavo/Checkpoint/FindingRules.h"
#include "octavo/Checkpoint/Jobs/Quantization.h"
#include "octavo/Checkpoint/Jobs/TestFiles.h"
#include "octavo/Checkpoint/LayerReader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <set>

namespace octavo::checkpoint {
namespace {

namespace fs = std::filesystem;
using numerics::Tensor;

/// The bytes of a folder's shards, by name.
std::map<std::string, std::string> shardsOf(const fs::path& folder) {
  std::map<std::string, std::string> shards;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".safetensors")
      shards[entry.path().filename()] = fileText(entry.path());
  return shards;
}

class LayoutConversionTest : public testing::Test {
protected:
  void SetUp() override {
    // In memory if possible: hundreds of small jobs would wait for the disk.
    const bool isInMemory = fs::is_directory("/dev/shm");
    std::string name = (isInMemory ? "/dev/shm" : testing::TempDir()) + "/octavo-convert-XXXXXX";
    root = ::mkdtemp(name.data());
    std::mt19937 random(3);
    std::vector<std::pair<std::string, Tensor>> tensors;
    const auto add = [&](const std::string& tensorName, std::vector<std::int64_t> shape) {
      Tensor tensor = Tensor::zeros(format::element("bf16"), std::move(shape));
      std::size_t i = 0;
      for (std::uint16_t& code : tensor.as<std::uint16_t>()) { // magnitudes differ by block
        const std::uint32_t exponent = random() % 8 + i++ / 1000 % 7;
        code = static_cast<std::uint16_t>((random() & 0x807f) | (0x3b80 + (exponent << 7)));
      }
      tensors.emplace_back(tensorName, std::move(tensor));
    };
    for (const char* module : {"q_proj", "k_proj", "v_proj", "o_proj"})
      add(std::string("model.layers.0.self_attn.") + module + ".weight", {160, 256});
    add("model.layers.0.mlp.experts.gate_up_proj", {2, 64, 96});
    add("model.layers.0.mlp.experts.down_proj", {2, 96, 64});
    add("model.layers.0.input_layernorm.weight", {256});
    add("model.embed_tokens.weight", {32, 256});
    add("lm_head.weight", {32, 256});
    fs::create_directories(root / "plain");
    for (int shard = 0; shard < 2; ++shard) {
      std::vector<NamedTensor> named;
      for (std::size_t i = shard; i < tensors.size(); i += 2)
        named.push_back({tensors[i].first, &tensors[i].second});
      ASSERT_TRUE(writeSafetensors(
          root / "plain" / fmt("model-0000%d-of-00002.safetensors", shard + 1), named));
    }
    Json map = Json::object();
    for (std::size_t i = 0; i < tensors.size(); ++i)
      map[tensors[i].first] = fmt("model-0000%d-of-00002.safetensors", static_cast<int>(i % 2) + 1);
    std::ofstream(root / "plain/model.safetensors.index.json")
        << Json{{"metadata", Json::object()}, {"weight_map", map}};
    std::ofstream(root / "plain/config.json") << R"({"model_type":"llama"})";
  }
  void TearDown() override { fs::remove_all(root); }

  static std::string fmt(const char* text, int number) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, text, number);
    return buffer;
  }

  static Folder open(const fs::path& path) {
    auto folder = Folder::open(path);
    EXPECT_TRUE(folder) << folder.error().message();
    return std::move(*folder);
  }
  static Rewrite expectRun(tl::expected<Rewrite, Error> rewrite, const fs::path& out) {
    EXPECT_TRUE(rewrite) << rewrite.error().message();
    const auto result = runJob(rewrite->job, out);
    EXPECT_TRUE(result) << result.error().message();
    return std::move(*rewrite);
  }

  /// Quantizes only the matrices, or for a layout that has stacks the weights that `weights`
  /// selects.
  void quantize(const Layout& layout, std::string_view format, const fs::path& out,
                WeightChoice weights = {.ignore = {"*.experts"}}) {
    const Folder folder = open(root / "plain");
    const format::ScaledFormat& row = *format::findScaledFormat(format);
    expectRun(planQuantization(folder,
                               {.layout = &layout,
                                .format = &row,
                                .options = {.rule = row.rule},
                                .weights = std::move(weights)},
                               {}),
              out);
  }
  /// Adds input scales of 0.5, 1, 2, ... to the layers, in another shard.
  static void addInputScales(const Layout& layout, std::string_view format, const fs::path& path) {
    const LayerSpelling& spelling = *layout.spelling(format);
    Json index = Json::parse(fileText(path / "model.safetensors.index.json"));
    std::vector<std::pair<std::string, Tensor>> scales;
    {
      const Folder folder = open(path);
      Findings findings;
      float scale = 0.5f;
      for (const Layer& layer : layout.read(folder, findings).layers) {
        Tensor tensor = Tensor::zeros(format::element("f32"), {});
        tensor.as<float>()[0] = spelling.input.meaning == Meaning::Divides ? 1 / scale : scale;
        scales.emplace_back(tensorName(layer.name, layer.parameter, spelling.input.name),
                            std::move(tensor));
        scale *= 2;
      }
    }
    std::vector<NamedTensor> named;
    for (const auto& [name, tensor] : scales) {
      named.push_back({name, &tensor});
      index["weight_map"][name] = "scales.safetensors";
    }
    ASSERT_TRUE(writeSafetensors(path / "scales.safetensors", named));
    std::ofstream(path / "model.safetensors.index.json") << index;
  }
  /// The input scales of the layers, as multipliers.
  static std::vector<float> inputScales(const Layout& layout, const fs::path& in) {
    const Folder folder = open(in);
    Findings findings;
    std::vector<float> scales;
    for (const Layer& layer : layout.read(folder, findings).layers)
      if (layer.inputScale) {
        scales.push_back(multipliers(*layer.inputScale)->front());
        EXPECT_EQ(layer.activations.kind, Activations::Kind::Static);
      }
    return scales;
  }
  static bool hasNote(const Rewrite& rewrite, RuleName rule) {
    return std::ranges::any_of(rewrite.notes,
                               [&](const Finding& note) { return note.rule == rule; });
  }
  Rewrite convert(const Layout& from, const Layout& to, const fs::path& in, const fs::path& out) {
    const Folder folder = open(in);
    return expectRun(planConversion(folder, {.from = &from, .to = &to}, {}), out);
  }
  /// The f32 values of every layer, by its name.
  static std::map<std::string, std::string> values(const Layout& layout, const fs::path& in) {
    const Folder folder = open(in);
    Findings findings;
    const Inventory inventory = layout.read(folder, findings);
    std::map<std::string, std::string> all;
    for (const Layer& layer : inventory.layers) {
      const auto reader = LayerReader::open(layer);
      EXPECT_TRUE(reader) << reader.error().message();
      Fetched fetched;
      std::string& bytes = all[plainName(layer)];
      bytes.resize(static_cast<std::size_t>(reader->rows() * reader->columns()) * sizeof(float));
      for (std::int64_t begin = 0, end; begin < reader->rows(); begin = end) {
        end = reader->pieceEnd(begin, reader->rows());
        auto* const to = reinterpret_cast<float*>(bytes.data()) + begin * reader->columns();
        EXPECT_TRUE(reader->values(begin, end, to, fetched));
      }
    }
    return all;
  }

  fs::path root;
};

TEST_F(LayoutConversionTest, everyPairThereAndBackBitForBit) {
  std::set<std::string> done, refused;
  for (const std::size_t rank : {2u, 3u}) {
    const auto has = [&](const Layout& layout, std::string_view format) {
      const LayerSpelling* row = layout.spelling(format, rank);
      return row && row->inputScale == InputScale::Optional &&
             row->holds != (rank == 3 ? Holds::Matrices : Holds::Stacks);
    };
    const WeightChoice weights =
        rank == 3 ? WeightChoice{.only = {"*.experts"}} : WeightChoice{.ignore = {"*.experts"}};
    for (const Layout* a : layouts())
      for (const LayerSpelling& spelling : a->spellings()) {
        if (a->spelling(spelling.format, rank) != &spelling || !has(*a, spelling.format))
          continue;
        const fs::path first = root / "first";
        quantize(*a, spelling.format, first, weights);
        const auto original = shardsOf(first);
        const auto expected = values(*a, first);
        for (const Layout* b : layouts()) {
          const LayerSpelling* to = b->spelling(spelling.format, rank);
          if (!to || to->inputScale == InputScale::Required)
            continue;
          SCOPED_TRACE(std::string(spelling.format) + ": " + std::string(a->name()) + " to " +
                       std::string(b->name()));
          const std::string pair = std::string(a->name()) + " " + std::string(b->name()) + " " +
                                   std::string(spelling.format) + (rank == 3 ? " stacked" : "");
          const Folder folder = open(first);
          auto there = planConversion(folder, {.from = a, .to = b}, {});
          ASSERT_EQ(there.has_value(), has(*b, spelling.format));
          if (!there) { // a stack and single matrices are different tensors
            EXPECT_NE(there.error().message().find("do not have the shape that layout"),
                      std::string::npos)
                << there.error().message();
            refused.insert(pair);
            continue;
          }
          const Rewrite rewrite = expectRun(std::move(there), root / "second");
          const bool isRounded = hasNote(rewrite, "rounded-divisor");
          EXPECT_TRUE(!isRounded || spelling.outer.meaning != to->outer.meaning);
          if (!isRounded)
            EXPECT_TRUE(values(*b, root / "second") == expected);
          Findings findings;
          const Folder second = open(root / "second");
          EXPECT_EQ(detectLayout(second, findings).layout->name(), b->name());
          convert(*b, *a, root / "second", root / "third");
          if (!isRounded)
            EXPECT_TRUE(shardsOf(root / "third") == original);
          done.insert(pair);
          fs::remove_all(root / "second");
          fs::remove_all(root / "third");
        }
        fs::remove_all(first);
      }
  }
  std::cout << done.size() << " pairs of layouts and formats, " << refused.size() << " refused\n";
  EXPECT_GE(done.size(), 90u);
  EXPECT_TRUE(done.contains("gpt-oss native mxfp4 stacked"));
  EXPECT_TRUE(refused.contains("gpt-oss compressed-tensors mxfp4 stacked"));
  EXPECT_TRUE(refused.contains("quark gpt-oss mxfp4"));
}

TEST_F(LayoutConversionTest, staticScalesOfActivationsThereAndBack) {
  std::size_t done = 0;
  for (const char* format : {"fp8_tensor", "nvfp4"}) {
    std::vector<const Layout*> with;
    for (const Layout* layout : layouts())
      if (const LayerSpelling* row = layout->spelling(format);
          row && row->access == Access::ReadAndWrite && !row->input.name.empty())
        with.push_back(layout);
    ASSERT_GE(with.size(), 3u);
    // A checkpoint of the first layout, with a scale for each layer.
    const fs::path calibrated = root / "calibrated";
    quantize(*with[0], format, calibrated);
    addInputScales(*with[0], format, calibrated);
    for (const Layout* a : with) {
      convert(*with[0], *a, calibrated, root / "first");
      const auto original = shardsOf(root / "first");
      const auto expected = values(*a, root / "first");
      for (const Layout* b : with) {
        SCOPED_TRACE(std::string(format) + ": " + std::string(a->name()) + " to " +
                     std::string(b->name()));
        convert(*a, *b, root / "first", root / "second");
        EXPECT_EQ(inputScales(*b, root / "second"), (std::vector<float>{0.5, 1, 2, 4}));
        EXPECT_TRUE(values(*b, root / "second") == expected);
        convert(*b, *a, root / "second", root / "third");
        EXPECT_TRUE(shardsOf(root / "third") == original);
        Findings findings;
        const Folder third = open(root / "third");
        a->read(third, findings);
        EXPECT_TRUE(findings.empty()) << findings.front().what;
        ++done;
        fs::remove_all(root / "second");
        fs::remove_all(root / "third");
      }
      fs::remove_all(root / "first");
    }
    fs::remove_all(calibrated);
  }
  EXPECT_EQ(done, 4 * 4 + 3 * 3u);
}

TEST_F(LayoutConversionTest, saysWhereADivisorIsRounded) {
  // No f32 divisor x has 1 / x = 1.9999999 in f32: x = 0.5 gives 2, the next larger x 1.9999998.
  const float stays = 0.25f, isRounded = 0x1.fffffep0f;
  ASSERT_EQ(1.0f / 0.5f, 2.0f);
  ASSERT_EQ(1.0f / std::nextafter(0.5f, 1.0f), 0x1.fffffcp0f);
  const Layout& from = *findLayout("modelopt");
  const Layout& to = *findLayout("compressed-tensors");
  for (const bool rounds : {false, true}) {
    SCOPED_TRACE(rounds);
    quantize(from, "nvfp4", root / "first");
    // Changes the outer scale of o_proj, which shares it with no layer, in place.
    for (const auto& entry : fs::directory_iterator(root / "first")) {
      std::string text = fileText(entry.path());
      if (entry.path().extension() != ".safetensors")
        continue;
      std::uint64_t length = 0;
      std::memcpy(&length, text.data(), sizeof length);
      const Json header = Json::parse(text.substr(8, length));
      for (const auto& [name, value] : header.items())
        if (name.ends_with("weight_scale_2")) {
          const bool isIt = rounds && name.find("o_proj") != std::string::npos;
          const float number = isIt ? isRounded : stays;
          std::memcpy(text.data() + 8 + length + value["data_offsets"][0].get<std::size_t>(),
                      &number, sizeof number);
        }
      std::ofstream(entry.path(), std::ios::binary) << text;
    }
    const Rewrite rewrite = convert(from, to, root / "first", root / "second");
    EXPECT_EQ(hasNote(rewrite, "rounded-divisor"), rounds);
    EXPECT_EQ(values(from, root / "first") == values(to, root / "second"), !rounds);
    for (const Finding& note : rewrite.notes)
      if (note.rule == "rounded-divisor") {
        EXPECT_EQ(note.tensor, "model.layers.0.self_attn.o_proj");
        EXPECT_TRUE(note.what.starts_with("1 outer scales"));
      }
    fs::remove_all(root / "first");
    fs::remove_all(root / "second");
  }
}

TEST_F(LayoutConversionTest, weightsAloneDoNotGoWhereActivationsNeedAScale) {
  const Layout& from = *findLayout("fp8");
  const Layout& to = *findLayout("modelopt");
  quantize(from, "fp8_tensor", root / "first");
  const Folder folder = open(root / "first");
  const auto refused = planConversion(folder, {.from = &from, .to = &to}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("static activation scale, and there is none"),
            std::string::npos)
      << refused.error().message();
}

TEST_F(LayoutConversionTest, requantizesOnlyWhenAsked) {
  const Layout& from = *findLayout("deepseek");
  const Layout& to = *findLayout("compressed-tensors");
  quantize(from, "fp8_block", root / "first");
  const Folder folder = open(root / "first");
  EXPECT_TRUE(planConversion(folder, {.from = &from, .to = &to}, {}));
  const Layout& quark = *findLayout("quark");
  ASSERT_FALSE(quark.spelling("fp8_block"));
  const auto refused = planConversion(folder, {.from = &from, .to = &quark}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("4 of 4 layers"), std::string::npos)
      << refused.error().message();
  auto rewrite = planConversion(folder,
                                {.from = &from,
                                 .to = &quark,
                                 .format = format::findScaledFormat("mxfp4"),
                                 .requantization = Requantization{}},
                                {});
  ASSERT_TRUE(rewrite);
  const auto result = runJob(rewrite->job, root / "out");
  ASSERT_TRUE(result) << result.error().message();
  ASSERT_EQ(result->reports.size(), 4u);
  for (const Json& report : result->reports) {
    EXPECT_GT(report["sqnr_db"], 12.0);
    EXPECT_LT(report["relative_error"], 0.25);
    EXPECT_GT(report["max_error"], 0.0);
  }
}

TEST(StoredDivisor, invertsToTheMultiplierWhereAnyDoes) {
  std::mt19937 random(5);
  int exact = 0;
  for (int i = 0; i < 20000; ++i) {
    const float x =
        std::bit_cast<float>(0x38000000u + static_cast<std::uint32_t>(random() % (16u << 23)));
    const float y = 1.0f / x; // the inverse of some f32
    const float divisor = stored(y, Meaning::Divides);
    EXPECT_EQ(1.0f / divisor, y) << x;
    exact += divisor == x;
    EXPECT_EQ(stored(x, Meaning::Multiplies), x);
  }
  EXPECT_GT(exact, 10000);
}

} // namespace
} // namespace octavo::checkpoint
