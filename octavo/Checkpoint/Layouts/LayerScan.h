// Groups tensors into layers; all layouts share it. A layout supplies its spellings and the claims
// of its configuration. Names, dtypes and shapes decide; a disagreement with the configuration is a
// finding.
#pragma once

#include "octavo/Checkpoint/Layouts/Layout.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// What a configuration states about one module.
struct Claim {
  enum class Kind : std::uint8_t {
    Unsaid, ///< nothing: the stored tensors decide
    Plain,  ///< left out of quantization
    Quantized,
    Unsupported, ///< in a format that octavo does not have; the layout reports it once
  } kind = Kind::Unsaid;
  /// Which modules the claim covers.
  enum class Reach : std::uint8_t {
    Some,  ///< some modules of a class; the configuration does not state which
    Class, ///< every module of a class, to which this module may belong
    Name,  ///< this module by name
  } reach = Reach::Class;
  std::string_view format = {}; ///< row of the scaled format; empty: any that the layout spells
  /// Block extents across and along, if they differ from the row's.
  std::optional<std::array<std::int64_t, 2>> block = {};
  Activations activations = {}; ///< what the configuration states about them
  /// Whether its scales are in cuBLAS tiles; nullopt: as the spellings state.
  std::optional<bool> tiled = {};
  std::string source = {}; ///< where it is stated: "quantization_config: config_groups.group_0"
};

/// Gives the claim for a module's name. Called for each module that has a tensor, norms and
/// embeddings included; a claim of Reach::Class need not apply to them.
using Claims = std::function<Claim(std::string_view module)>;

/// Reads all layers of `folder` that `spellings` spell. Sets the inventory's layers, plain tensors,
/// KV scales, and what was not read.
Inventory scanLayers(const Folder& folder, std::span<const LayerSpelling> spellings,
                     const Claims& claims, Findings& findings);

/// Adds codes that the layout leaves unread, in formats of its producer that octavo does not have,
/// to the foreign codes.
void addForeignCodes(const Folder& folder, std::string_view producer, Inventory& inventory);

/// The tensor's shard, relative to the checkpoint.
std::string shardOf(const Folder& folder, const StoredTensor& tensor);

/// The number of layers if every quantized-looking tensor of `folder` belongs to a layer that
/// `spellings` spell exactly, dtypes and ranks included; else 0.
std::size_t countExactLayers(const Folder& folder, std::span<const LayerSpelling> spellings);

} // namespace octavo::checkpoint
