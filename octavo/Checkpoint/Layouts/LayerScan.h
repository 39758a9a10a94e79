// From tensors to layers: the reading that all layouts share. A layout brings its spellings and
// what its configuration says of each module; names, dtypes and shapes decide, and what disagrees
// with the configuration is a finding.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// What a configuration says of one module.
struct Claim {
  enum class Kind : std::uint8_t {
    Unsaid, ///< nothing: what is stored decides
    Plain,  ///< left out of quantization
    Quantized,
    Unsupported, ///< in a format that octavo has not; reported once, by the layout
  } kind = Kind::Unsaid;
  /// How far the claim goes.
  enum class Reach : std::uint8_t {
    Some,  ///< some modules of a class, and the configuration does not say which
    Class, ///< every module of a class, which this one may be of
    Name,  ///< this module by name
  } reach = Reach::Class;
  std::string_view format = {}; ///< row of the scaled format; empty: any that the layout spells
  /// Extents across and along of the blocks, where they are not the row's.
  std::optional<std::array<std::int64_t, 2>> block = {};
  Activations activations = {};
  /// Whether its scales lie in cuBLAS' tiles; nothing: what the spellings say.
  std::optional<bool> tiled = {};
  std::string source = {}; ///< where it is said: "quantization_config: config_groups.group_0"
};

/// Of a module's name. Called for each module that has a tensor, also for those of norms and
/// embeddings: a claim of Reach::Class need not fit them.
using Claims = std::function<Claim(std::string_view module)>;

/// Reads all layers of `folder` that `spellings` spell. Layers, plain tensors and KV scales are
/// set.
Inventory scanLayers(const Folder& folder, std::span<const LayerSpelling> spellings,
                     const Claims& claims, Findings& findings);

/// Has the codes that a layout leaves unread, in formats of its producer that octavo has not,
/// counted as foreign ones.
void addForeignCodes(const Folder& folder, std::string_view producer, Inventory& inventory);

/// The shard of a tensor, relative to the checkpoint.
std::string shardOf(const Folder& folder, const StoredTensor& tensor);

/// Whether every quantized-looking tensor of `folder` is part of a layer that `spellings` spell to
/// the letter (dtypes and ranks too), and there is at least one. Then the number of layers, else 0.
std::size_t countExactLayers(const Folder& folder, std::span<const LayerSpelling> spellings);

} // namespace octavo::checkpoint
