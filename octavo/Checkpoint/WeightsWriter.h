// A checkpoint of weights that are in memory, in any layout.
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

/// A quantized weight [N, K] or [E, N, K], blocks along the last axis.
struct ScaledWeight {
  std::string name; ///< module and parameter: "model.layers.0.mlp.up_proj.weight"
  std::vector<std::int64_t> shape;
  const format::ScaledFormat* format;
  std::span<const std::byte> codes;  ///< one a byte, row-major
  std::span<const std::byte> scales; ///< codes of the format's scales, row-major
  float outer = 1.0f;
  /// The number whose inverse `outer` is, where its owner computes it first: layouts that store
  /// divisors get it as it is.
  std::optional<float> divisor = {};
};

/// Any other tensor, its bytes as the file has them (codes of less than a byte packed). One that
/// the layout names as a quantized weight's input scale says that its activations are static.
struct PlainWeight {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;
};

/// Writes model.safetensors, and a config.json that is `config` with what readers of the layout
/// expect of it, into `folder`, which is created if need be. Returns what is not stored as it was
/// given (rounded-divisor). Errors, which leave no folder behind that was not there: a folder that
/// has a checkpoint; a format that the layout does not spell; shapes that it cannot say; the file
/// system.
tl::expected<Findings, Error> writeCheckpoint(const std::filesystem::path& folder,
                                              std::span<const ScaledWeight> scaled,
                                              std::span<const PlainWeight> plain,
                                              const Layout& layout, Json config);

} // namespace octavo::checkpoint
