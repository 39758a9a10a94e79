#include "octavo/Checkpoint/Layouts/LeakedState.h"

#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <algorithm>
#include <array>
#include <set>

namespace octavo::checkpoint {

namespace {

// Endings of name components that hold buffers: ModelOpt's "weight_quantizer" and
// "k_bmm_quantizer"; "weight_fake_quant", "activation_post_process" and "input_observer" of
// torch.ao and compressed-tensors.
constexpr auto kHolders =
    std::to_array<std::string_view>({"_quantizer", "_observer", "_fake_quant", "_post_process"});
// Buffers in the module itself: amax, and Transformer Engine's pickled state.
constexpr auto kBuffers = std::to_array<std::string_view>({"amax", "amax_history", "_extra_state"});

bool endsWithOne(std::string_view text, std::span<const std::string_view> ends) {
  return std::ranges::any_of(ends, [&](std::string_view end) { return text.ends_with(end); });
}

} // namespace

std::optional<std::string_view> quantizedModule(std::string_view tensor) {
  const std::string_view parameter = lastComponent(tensor);
  if (parameter.ends_with("pre_quant_scale"))
    return std::nullopt;
  for (std::string_view name = moduleOf(tensor); !name.empty(); name = moduleOf(name))
    if (endsWithOne(lastComponent(name), kHolders))
      return moduleOf(name);
  if (endsWithOne(parameter, kBuffers) && parameter.size() < tensor.size())
    return moduleOf(tensor);
  return std::nullopt;
}

std::vector<StoredTensor> leakedState(const Inventory& inventory) {
  std::set<std::string_view> quantized; // layers with scales, and the modules above them
  for (const Layer& layer : inventory.layers)
    if (layer.scales || layer.outer || layer.inputScale)
      for (std::string_view module = layer.name; !module.empty() && quantized.insert(module).second;
           module = moduleOf(module))
        ;
  std::vector<StoredTensor> leaked;
  for (const StoredTensor& tensor : inventory.plain)
    if (const auto module = quantizedModule(tensor.name()); module && quantized.contains(*module))
      leaked.push_back(tensor);
  return leaked;
}

} // namespace octavo::checkpoint
