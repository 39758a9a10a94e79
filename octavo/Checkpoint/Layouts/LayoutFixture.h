// Fixture for the tests of layouts: writes checkpoints with given names, dtypes and shapes, zero
// bytes unless a test gives them, and prints what a layout read as lines of text.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <unistd.h>
#include <vector>

namespace octavo::checkpoint {

class LayoutFixture : public testing::Test {
protected:
  LayoutFixture() {
    std::string name = (std::filesystem::temp_directory_path() / "octavo-layout-XXXXXX").string();
    root = ::mkdtemp(name.data());
  }
  ~LayoutFixture() override { std::filesystem::remove_all(root); }

  void tensor(const std::string& name, const std::string& dtype,
              const std::vector<std::int64_t>& shape) {
    const std::int64_t bits = findSafetensorsDtype(dtype)->bits;
    const std::int64_t count =
        std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
    header += fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                          header.empty() ? "{" : ",", name, dtype, fmt::join(shape, ","), size,
                          size + count * bits / 8);
    size += count * bits / 8;
  }

  void config(const std::string& text, const std::string& file = "config.json") {
    std::ofstream(root / file) << text;
  }
  /// Writes config.json with this quantization_config.
  void quantization(const std::string& block) {
    config(R"({"model_type":"llama","quantization_config":)" + block + "}");
  }

  static ChosenLayer chosen(const char* module, const char* format, Activations::Kind kind) {
    return {module, format::findScaledFormat(format), activationsFor(format, kind)};
  }
  /// Settles activations first, as the commands do.
  static void configure(const char* layout, LayoutChoice choice, Json& config, Json& quantConfig) {
    findLayout(layout)->settleActivations(choice.layers);
    findLayout(layout)->configure(choice, config, quantConfig);
  }

  /// Writes the tensors and reads the folder by its detected layout.
  void read() {
    std::ofstream file(root / "model.safetensors", std::ios::binary);
    const std::string text = header + "}";
    const std::uint64_t length = text.size();
    for (int i = 0; i < 8; ++i)
      file.put(static_cast<char>(length >> (8 * i) & 0xff));
    file << text << std::string(size, '\0');
    file.close();
    auto opened = Folder::open(root);
    ASSERT_TRUE(opened) << opened.error().message();
    folder = std::make_unique<Folder>(std::move(*opened));
    detected = detectLayout(*folder, findings);
    inventory = detected.layout->read(*folder, findings);
  }

  void expectLayers(const std::string& layout, const std::vector<std::string>& lines) {
    EXPECT_EQ(detected.layout->name(), layout) << detected.reason;
    std::vector<std::string> found;
    for (const Layer& layer : inventory.layers)
      found.push_back(line(layer));
    EXPECT_EQ(found, lines);
  }

  /// Expects exactly these findings, as rule and tensor: "missing-scale m.weight".
  void expectFindings(const std::vector<std::string>& expected) {
    std::vector<std::string> found;
    for (const Finding& finding : findings) {
      found.push_back(std::string(finding.rule.text()) +
                      (finding.tensor.empty() ? "" : " " + finding.tensor));
      EXPECT_EQ(finding.file == "model.safetensors", !finding.tensor.empty()) << finding.file;
      EXPECT_FALSE(finding.what.empty());
      EXPECT_FALSE(finding.why.empty());
      EXPECT_FALSE(finding.fix.empty());
    }
    EXPECT_EQ(found, expected);
  }
  bool findingSays(const std::string& words) const {
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
      return finding.what.find(words) != std::string::npos;
    });
  }

  static std::string line(const Layer& layer) {
    const auto part = [](const char* label, const std::optional<Part>& p) {
      return p ? fmt::format("; {} {} {}{}", label, p->tensor.name(), p->format->name,
                             p->meaning == Meaning::Divides ? " divides" : "")
               : std::string();
    };
    static constexpr const char* kKinds[] = {"", "dynamic", "static"};
    std::string text = fmt::format(
        "{}.{} {} [{}] blocks [{}] {}{}", layer.name, layer.parameter,
        layer.format ? layer.format->name
                     : fmt::format("{}/{}", layer.type.element->name, layer.type.scale->name),
        fmt::join(layer.shape, ","), fmt::join(layer.type.block, ","), layer.elements.format->name,
        layer.elements.packed ? " packed" : "");
    text +=
        part("scales", layer.scales) + part("outer", layer.outer) + part("input", layer.inputScale);
    if (layer.activations.kind != Activations::Kind::None)
      text += fmt::format("; {} {}", kKinds[static_cast<int>(layer.activations.kind)],
                          layer.activations.format ? layer.activations.format->name : "?");
    return text;
  }

  std::vector<std::string> plainNames() const {
    std::vector<std::string> names;
    for (const StoredTensor& tensor : inventory.plain)
      names.push_back(tensor.name());
    return names;
  }

  std::filesystem::path root;
  std::string header;
  std::int64_t size = 0;
  std::unique_ptr<Folder> folder;
  Findings findings;
  DetectedLayout detected;
  Inventory inventory;
};

} // namespace octavo::checkpoint
