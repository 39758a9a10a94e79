// Files of scales alone: safetensors with the names that the scales have in the model, and the JSON
// that old vLLM read for key-value caches (kv_cache_scales.json).
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Files/SafetensorsDtype.h"

#include <tl/expected.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

struct StoredScale {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  /// Its numbers, where the dtype is a float of at least 8 bits; else none.
  std::vector<float> values() const;
};

/// One f32 scale of rank 0.
StoredScale scalarScale(std::string name, float value);

/// Error, with `file` and `tensor` named: no value, or one that is zero, negative, NaN or infinite.
tl::expected<void, Error> checkScale(const std::filesystem::path& file, const std::string& tensor,
                                     std::span<const float> values);

/// Reads a scale file. Errors: a tensor whose name's last component has no "scale" in it; those of
/// checkScale; a dtype that is no float and not U8 (whose bytes are no numbers to check).
tl::expected<std::vector<StoredScale>, Error> readScaleFile(const std::filesystem::path& path);

/// Writes one. Errors: those of ShardWriter.
tl::expected<void, Error> writeScaleFile(const std::filesystem::path& path,
                                         std::span<const StoredScale> scales);

/// The JSON form says one scale a layer, for keys and values both, and repeats it for each rank of
/// tensor parallelism.
struct KvScaleJson {
  std::string modelType; ///< may be empty
  std::vector<float> layers;
};

/// Reads it. Errors (vLLM's schema.py, which then fell back to 1.0): no kv_cache; a dtype that is
/// not float8_e4m3fn; ranks or layers that are not 0, 1, 2, ...; ranks that disagree, or have other
/// layers; a scale that is not positive and finite; a model type that is not `modelType` where that
/// is not empty.
tl::expected<KvScaleJson, Error> readKvScaleJson(const std::filesystem::path& path,
                                                 const std::string& modelType = "");

tl::expected<void, Error> writeKvScaleJson(const std::filesystem::path& path,
                                           const KvScaleJson& scales, int ranks);

} // namespace octavo::checkpoint
