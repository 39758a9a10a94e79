// The layout without quantization: every tensor holds its values.
#include "octavo/Checkpoint/Layouts/Configuration.h"
#include "octavo/Checkpoint/Layouts/Layouts.h"

namespace octavo::checkpoint {

namespace {

class Plain : public Layout {
public:
  std::string_view name() const override { return "plain"; }
  std::string_view description() const override {
    return "Tensors of BF16, F16, F32 or another float, without scales.";
  }
  std::string_view source() const override { return "safetensors"; }
  std::span<const LayerSpelling> spellings() const override { return {}; }

  std::optional<std::string> detectByConfiguration(const Folder& folder) const override {
    return std::nullopt;
  }
  std::optional<std::string> detectByTensors(const Folder& folder) const override {
    return "no quantization in config.json, no layout that the tensors fit";
  }

  Inventory read(const Folder& folder, Findings& findings) const override {
    // Without spellings, only scales of key-value caches are recognized as scales.
    return scanLayers(folder, {}, [](std::string_view) { return Claim{}; }, findings);
  }

  void settleActivations(std::span<ChosenLayer>) const override {}

  void configure(const LayoutChoice& choice, Json& config, Json& quantConfig) const override {
    removeQuantization(config);
    quantConfig = nullptr;
  }
};

} // namespace

const Layout& plainLayout() {
  static const Plain layout;
  return layout;
}

} // namespace octavo::checkpoint
