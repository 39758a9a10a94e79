// Writes weights in memory as a checkpoint in any layout.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// A quantized weight [N, K] or [E, N, K] with blocks along the last axis.
struct ScaledWeight {
  std::string name; ///< module and parameter: "model.layers.0.mlp.up_proj.weight"
  std::vector<std::int64_t> shape;
  const format::ScaledFormat* format;
  std::span<const std::byte> codes;  ///< one code a byte, row-major
  std::span<const std::byte> scales; ///< codes of the format's scale type, row-major
  float outer = 1.0f;
  /// The number whose inverse `outer` is, if the caller computed it. Layouts that store divisors
  /// store it unchanged.
  std::optional<float> divisor = {};
};

/// Any other tensor. `bytes` are as in the file: codes narrower than a byte are packed. A tensor
/// that the layout names as the input scale of a quantized weight makes its activations static.
struct PlainWeight {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes model.safetensors and config.json to `folder`, which is created if it does not exist.
/// config.json is `config` with the members that readers of the layout expect; layouts that use
/// hf_quant_config.json get that file, too. Returns findings about numbers that are not stored
/// exactly (rounded-divisor). Errors: `folder` already holds a checkpoint; a format or a shape that
/// the layout cannot express; the file system. After an error, folders that were created and are
/// empty are removed.
tl::expected<Findings, Error> writeCheckpoint(const std::filesystem::path& folder,
                                              std::span<const ScaledWeight> scaled,
                                              std::span<const PlainWeight> plain,
                                              const Layout& layout, Json config);

} // namespace octavo::checkpoint
