// How readers treat modules, by name: projections that they fuse into one product, and modules that
// they build without quantization. Each table names the reader in which a row was seen. Quantizing,
// converting and lint use these tables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Projections of one parent that readers run as one product. They must share one format and one
/// outer scale.
struct FusedFamily {
  std::string_view name;                   ///< name of the product in the reader
  std::array<std::string_view, 4> members; ///< last components of module names; empty: none
  std::string_view parent;        ///< the component before the last: "compressor"; empty: any
  std::string_view source;        ///< the reader and file where the family was seen
  std::string_view notUnder = {}; ///< a parent component under which the members have different
                                  ///< inputs, so that they are not fused
};
/// The table of fused families.
std::span<const FusedFamily> fusedFamilies();

/// The family of a module; null if it is in none.
const FusedFamily* fusedFamily(std::string_view module);
/// A name shared by the modules of one fused product; nullopt if `module` is in no family. Modules
/// of one parent are fused: "l.0.q_proj" and "l.0.k_proj" give "l.0.qkv_proj".
std::optional<std::string> fusedGroup(std::string_view module);

/// Modules that stay in the model's dtype.
struct WideFamily {
  enum class Kind : std::uint8_t { Head, Embedding, Normalization, Router, Indexer, Draft } kind;
  /// Which part of a module's name `word` must match.
  enum class Where : std::uint8_t {
    LastComponent,
    End,       ///< the last components, separated by dots
    Whole,     ///< the whole name
    Anywhere,  ///< any substring
    Word,      ///< a word of a component, separated by underscores: "router" of "router_linear"
    Qualified, ///< a component, possibly with words such as "moe": "gate" of "shared_expert_gate"
  } where;
  std::string_view word;
  std::string_view why; ///< a clause, after "left: "
  /// Whether the module is a Linear that some readers can run or build quantized: the user may
  /// choose to quantize it.
  bool isLinear;
  /// Whether readers have no place for its scales: lint reports a quantized module of this family.
  bool isReported;
  std::string_view source;
};
/// The table of wide families.
std::span<const WideFamily> wideFamilies();

/// The family of a module; null if it is in none.
const WideFamily* wideFamily(std::string_view module);

} // namespace octavo::checkpoint
