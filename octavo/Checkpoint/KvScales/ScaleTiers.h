// Resolves which scale counts: one in a scale file, else one in the checkpoint, else 1.0. Also
// reads scales for a checkpoint and writes them into it.
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

/// Where a scale comes from, in ascending priority.
enum class ScaleTier : std::uint8_t { Default, Checkpoint, File };
std::string_view scaleTierName(ScaleTier tier); ///< "default", "checkpoint", "file"

/// A scale that a reader uses at run time, and its source.
struct TieredScale {
  std::string name;          ///< "model.layers.0.self_attn.k_scale", "...q_proj.input_scale"
  std::vector<float> values; ///< one number, or one for each head
  ScaleTier tier;
  std::string source; ///< name of the tensor in the checkpoint or the file; empty for the default
  /// A tensor of the checkpoint with another value of the same scale; empty if there is none.
  std::string rival = {};
};

/// The canonical names of a scale, independent of the producer: `MODULE.k_scale` and so on for
/// caches, the tensor's own name for other scales. A scale of both keys and values has two names.
std::vector<std::string> canonicalScaleNames(std::string_view tensor);

/// Resolves the key and value scales of every attention module, further cache scales that exist,
/// and the input scales of layers with static activations. Modules are in numerical order. `file`
/// may be empty. Errors: reading the checkpoint.
tl::expected<std::vector<TieredScale>, Error>
resolveScales(const Folder& folder, const Inventory& inventory, std::span<const StoredScale> file);

/// Reads a scale file of either form for `folder`; the layers of the JSON form are the attention
/// modules in order. A name for keys or values alone takes precedence over a name for both. Errors:
/// those of ScaleFile.h; another number of layers; names that the model does not have; two values
/// for one scale.
tl::expected<std::vector<StoredScale>, Error>
readScalesFor(const Folder& folder, const Inventory& inventory, const std::filesystem::path& path);

/// What applyScales did to one tensor.
struct ScaleChange {
  std::string tensor, shard;
  enum class Kind : std::uint8_t { Replaced, Added, Removed, Same } kind;
  std::vector<float> before, after; ///< values; empty if there is no tensor
  /// Whether the tensor's dtype represents the new values exactly.
  bool isExact = true;
  /// Whether the change alters the values of a weight: a weight's scale was replaced by a different
  /// one.
  bool changesWeight = false;
};

/// Writes scales into the checkpoint. Existing tensors get the values in their own dtype and shape;
/// other scales are added in the layout's spelling to the shard of their module. Only the shards
/// concerned are rewritten, each through a temporary file that replaces the shard when it is
/// complete, then the index. If it is interrupted, the same call completes it. The codes of weights
/// stay; if a weight's scale is replaced, the weight's values change. Errors: a shape that does not
/// fit; another process writes to the folder; the file system.
tl::expected<std::vector<ScaleChange>, Error> applyScales(const Folder& folder,
                                                          const Layout& layout,
                                                          const Inventory& inventory,
                                                          std::span<const StoredScale> scales);

} // namespace octavo::checkpoint
