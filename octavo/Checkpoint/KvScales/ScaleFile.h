// Files that hold only scales: safetensors with the scales' names in the model, and the JSON that
// old vLLM read for key-value caches (kv_cache_scales.json).
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

/// A scale as a file stores it: one number or several.
struct StoredScale {
  std::string name;
  const SafetensorsDtype* dtype;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> bytes;

  /// The numbers if the dtype is a float of at least 8 bits; else empty.
  std::vector<float> values() const;
};

/// An f32 scale of rank 0.
StoredScale scalarScale(std::string name, float value);

/// Error, naming `file` and `tensor`: there is no value, or one is zero, negative, NaN or infinite.
tl::expected<void, Error> checkScale(const std::filesystem::path& file, const std::string& tensor,
                                     std::span<const float> values);

/// Reads a scale file. Errors: a tensor without "scale" in the last component of its name; those of
/// checkScale; a dtype that is neither a float nor U8 (whose bytes are not checked as numbers).
tl::expected<std::vector<StoredScale>, Error> readScaleFile(const std::filesystem::path& path);

/// Writes a scale file. Errors: those of ShardWriter.
tl::expected<void, Error> writeScaleFile(const std::filesystem::path& path,
                                         std::span<const StoredScale> scales);

/// The JSON form: one scale a layer, for both keys and values, repeated for each rank of tensor
/// parallelism.
struct KvScaleJson {
  std::string modelType;     ///< may be empty
  std::vector<float> layers; ///< the scale of each layer
};

/// Reads the JSON form. Errors (for which vLLM's schema.py fell back to 1.0):
///  - no kv_cache, or a dtype that is not float8_e4m3fn;
///  - ranks or layers that are not 0, 1, 2, ...;
///  - ranks that disagree or have different layers;
///  - a scale that is not positive and finite;
///  - a model type other than `modelType`, unless that is empty.
tl::expected<KvScaleJson, Error> readKvScaleJson(const std::filesystem::path& path,
                                                 const std::string& modelType = "");

/// Writes the JSON form, the scales repeated for `ranks` ranks. Errors: the file system.
tl::expected<void, Error> writeKvScaleJson(const std::filesystem::path& path,
                                           const KvScaleJson& scales, int ranks);

} // namespace octavo::checkpoint
