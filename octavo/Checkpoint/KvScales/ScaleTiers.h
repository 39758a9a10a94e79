// Which scale counts where several are to be had: 1.0 for all, unless the checkpoint has one under
// a name of its own, unless a scale file has one. And the scales of a checkpoint taken out and put
// in.
#pragma once

#include "octavo/Checkpoint/Files/Error.h"
#include "octavo/Checkpoint/Folder.h"
#include "octavo/Checkpoint/KvScales/ScaleFile.h"
#include "octavo/Checkpoint/Layouts/Layout.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

enum class ScaleTier : std::uint8_t { Default, Checkpoint, File };
std::string_view scaleTierName(ScaleTier tier); ///< "default", "checkpoint", "file"

/// A scale that a reader uses at run time, and where it is from.
struct TieredScale {
  std::string name;          ///< "model.layers.0.self_attn.k_scale", "...q_proj.input_scale"
  std::vector<float> values; ///< one, or one a head
  ScaleTier tier;
  std::string source; ///< the tensor's name in the checkpoint or the file; empty for the default
  /// Of the checkpoint: a tensor that says another value of the same scale; empty for most.
  std::string rival = {};
};

/// Scales under the names that they have here, whatever the producer called them: `MODULE.k_scale`
/// and so on for caches, the tensor's own name for others. A name of both keys and values gives
/// two.
std::vector<std::string> canonicalScaleNames(std::string_view tensor);

/// Key and value scales of every attention module, others that exist, and the input scales of
/// layers with static activations; modules in their natural order. `file` may be empty. Errors: of
/// reading the checkpoint.
tl::expected<std::vector<TieredScale>, Error>
resolveScales(const Folder& folder, const Inventory& inventory, std::span<const StoredScale> file);

/// Reads a scale file of either form for `folder`: the JSON's layers are its attention modules.
/// A name of one scale outweighs one of both keys and values. Errors: those of ScaleFile.h; another
/// number of layers; names that the model does not have; two values for one scale.
tl::expected<std::vector<StoredScale>, Error>
readScalesFor(const Folder& folder, const Inventory& inventory, const std::filesystem::path& path);

/// What applying does to one tensor.
struct ScaleChange {
  std::string tensor, shard;
  enum class Kind : std::uint8_t { Replaced, Added, Removed, Same } kind;
  std::vector<float> before, after;
  /// Whether the tensor's dtype holds the new values as they are.
  bool isExact = true;
  /// Whether the values of a weight change with it: a scale of weights replaced by another.
  bool changesWeight = false;
};

/// Puts the scales of a file into the checkpoint: tensors that it has get the values, in their own
/// dtype and shape; others are added in the layout's spelling, to the shard that has the module's
/// weight. Only the shards concerned are rewritten, each to a temporary file that takes its place
/// when it is whole; then the index. Stopped in between, the same call completes it. Weights keep
/// their bytes; where a scale of theirs is replaced, not their values. Errors: a shape that does
/// not fit; the file system.
tl::expected<std::vector<ScaleChange>, Error> applyScales(const Folder& folder,
                                                          const Layout& layout,
                                                          const Inventory& inventory,
                                                          std::span<const StoredScale> scales);

} // namespace octavo::checkpoint
