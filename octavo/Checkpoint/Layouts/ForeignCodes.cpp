// Finds codes that no layout of octavo reads, and their producer: matrices of integers and of
// narrow floats whose values are not their own.
#include "octavo/Checkpoint/Layouts/Layout.h"
#include "octavo/Checkpoint/Layouts/ScaleNames.h"
#include "octavo/Checkpoint/ModuleNames/Components.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace octavo::checkpoint {

namespace {

/// How a producer is recognized: by the name of the codes and the name of a tensor beside them.
struct Producer {
  std::string_view name;
  std::string_view codes;  ///< ending of the last component of the codes' name; empty: any
  std::string_view dtype;  ///< dtype of the codes; empty: any
  std::string_view beside; ///< part of a name in the same module; empty: not needed
};
// The first row that fits counts. The names are those of the tools' own exporters.
constexpr auto kProducers = std::to_array<Producer>({
    {"bitsandbytes", "", "", "quant_state.bitsandbytes"},
    {"bitsandbytes", "", "U8", "absmax"},
    {"bitsandbytes (LLM.int8)", "", "I8", "SCB"},
    {"GPTQ", "qweight", "I32", "g_idx"},
    {"GPTQ", "qzeros", "I32", "g_idx"},
    {"AWQ", "qweight", "I32", "qzeros"},
    {"AWQ", "qzeros", "I32", "qweight"},
    {"GPTQ or AWQ", "qweight", "", ""},
    {"ExLlamaV2", "q_weight", "", ""},
    {"ExLlamaV3", "trellis", "", ""},
    {"AQLM", "codes", "", "codebooks"},
    {"QuIP#", "Qidxs", "", ""},
    {"VPTQ", "indices", "", "centroids"},
    {"HQQ", "W_q", "", ""},
    {"MLX (affine)", "weight", "U32", "biases"},
    {"MLX", "weight", "U32", "scales"},
    {"torchao", "qdata", "", ""},
    {"torchao", "int_data", "", ""},
    {"Transformer Engine", "_data", "U8", "_scale_inv"},
    {"quanto", "_data", "", "_scale"},
    {"TensorRT-LLM", "weight", "", "weights_block_scaling_factor"},
    {"TensorRT-LLM", "weight", "", "per_channel_scale"},
    {"compressed-tensors (pack-quantized)", "weight_packed", "I32", ""},
    {"Quark's rotation", "input_rotation", "", ""},
    {"FP8 stored as U8, or a format of its own", "weight", "U8", "scale"},
    {"an INT8 tool", "weight", "I8", "scale"},
});

bool isOfNarrowFloats(const SafetensorsDtype& dtype) {
  return dtype.type && dtype.type->isFloat() && dtype.type->format().isNarrow();
}

/// Whether a matrix of integers is an index or a mask of the model: a buffer that exporters
/// include.
bool isBuffer(const StoredTensor& tensor) {
  const std::string_view last = lastComponent(tensor.name());
  const std::vector<std::int64_t>& shape = tensor.entry->shape;
  const bool isCausalMask = last == "bias" && shape.size() == 4 && shape[0] == 1 && shape[1] == 1;
  return isCausalMask || last.ends_with("_ids") || last.ends_with("_index") || last == "tid2eid" ||
         last.find("mask") != last.npos || last.find("vocab") != last.npos;
}

/// Whether the tensor's dtype and shape are those of codes.
bool mayBeCodes(const StoredTensor& tensor) {
  const SafetensorsDtype& dtype = *tensor.entry->dtype;
  if (tensor.entry->shape.size() < 2 || tensor.size() == 0)
    return false;
  if (isOfNarrowFloats(dtype))
    return true;
  // Quantizers do not write 64-bit integers or booleans.
  const bool isInteger = !dtype.type || !dtype.type->isFloat();
  return isInteger && dtype.bits <= 32 && dtype.name != "BOOL" && !isBuffer(tensor);
}

/// Counts, among the names beside codes, those like a scale's and those that identify each
/// producer.
struct Besides {
  std::int64_t scales = 0;
  std::array<std::int64_t, kProducers.size()> told{};

  void add(std::string_view name, std::int64_t times) {
    scales += isNamedLikeScale(name) ? times : 0;
    for (std::size_t row = 0; row < kProducers.size(); ++row)
      if (!kProducers[row].beside.empty() && name.find(kProducers[row].beside) != name.npos)
        told[row] += times;
  }
};

} // namespace

bool isNamedLikeScale(std::string_view name) {
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  constexpr auto kWords = std::to_array<std::string_view>(
      {"scale", "scaling_factor", "absmax", "zero_point", "qzeros", "scb", "_amax"});
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

std::vector<ForeignCodes> findForeignCodes(const Folder& folder,
                                           const std::function<bool(const StoredTensor&)>& taken) {
  std::vector<const StoredTensor*> codes;
  for (const StoredTensor& tensor : folder.tensors())
    if (mayBeCodes(tensor) && !taken(tensor))
      codes.push_back(&tensor);
  if (codes.empty())
    return {};

  // By module the names in it; by codes the names below them ("m.weight._scale").
  std::unordered_map<std::string_view, Besides> modules, below;
  for (const StoredTensor* each : codes) {
    modules.try_emplace(moduleOf(each->name()));
    below.try_emplace(each->name());
  }
  for (const StoredTensor& tensor : folder.tensors()) {
    const std::string_view name = tensor.name();
    if (const auto found = modules.find(moduleOf(name)); found != modules.end())
      found->second.add(lastComponent(name), 1);
    for (std::string_view parent = moduleOf(name); !parent.empty(); parent = moduleOf(parent))
      if (const auto found = below.find(parent); found != below.end())
        found->second.add(name.substr(parent.size() + 1), 1);
  }

  std::vector<ForeignCodes> foreign;
  for (const StoredTensor* each : codes) {
    const std::string_view own = lastComponent(each->name());
    const Besides& children = below.at(each->name());
    Besides beside = modules.at(moduleOf(each->name()));
    beside.add(own, -1);
    // Narrow floats without scales are their own values: a model that was cast. The layouts decide
    // how to treat them.
    if (isOfNarrowFloats(*each->entry->dtype) && beside.scales + children.scales == 0)
      continue;
    std::size_t row = 0;
    while (row < kProducers.size() &&
           !((kProducers[row].codes.empty() || own.ends_with(kProducers[row].codes)) &&
             (kProducers[row].dtype.empty() || kProducers[row].dtype == each->entry->dtype->name) &&
             (kProducers[row].beside.empty() || beside.told[row] + children.told[row] > 0)))
      ++row;
    foreign.push_back({*each, row == kProducers.size() ? "" : std::string(kProducers[row].name)});
  }
  return foreign;
}

} // namespace octavo::checkpoint
