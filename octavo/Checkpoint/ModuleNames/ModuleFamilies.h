// What readers make of modules by their names: projections that they run as one product, and
// modules that they build without quantization. One table of each, with the reader in which a row
// was seen; quantizing, converting and lint go by them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// Projections of one parent that readers run as one product: one format, one outer scale.
struct FusedFamily {
  std::string_view name;                   ///< of the product, in the reader
  std::array<std::string_view, 4> members; ///< last components of module names; empty: none
  std::string_view parent;                 ///< the component before: "compressor"; empty: any
  std::string_view source;                 ///< where it was seen
  std::string_view notUnder = {}; ///< a component before under which they have different inputs
};
std::span<const FusedFamily> fusedFamilies();

/// The family of a module; null for a module that is in none.
const FusedFamily* fusedFamily(std::string_view module);
/// A name that the modules of one fused product have in common; nothing for a module that is in
/// none. Modules of one parent are fused: "l.0.q_proj" and "l.0.k_proj".
std::optional<std::string> fusedGroup(std::string_view module);

/// Modules that are left in the model's dtype.
struct WideFamily {
  enum class Kind : std::uint8_t { Head, Embedding, Normalization, Router, Indexer, Draft } kind;
  /// What of a module's name `word` is.
  enum class Where : std::uint8_t {
    LastComponent,
    End,       ///< the last components, with dots between them
    Whole,     ///< the whole name
    Anywhere,  ///< a part of the name
    Word,      ///< a word of a component: "router" of "router_linear"
    Qualified, ///< a component, alone or with words such as "moe": "gate" of "shared_expert_gate"
  } where;
  std::string_view word;
  std::string_view why; ///< a clause, after "left: "
  /// Whether it is a Linear that readers can run quantized or that some build so: kept as a choice.
  bool isLinear;
  /// Whether readers have no place for scales there: a quantized one is not loaded as it is meant.
  bool isReported;
  std::string_view source;
};
std::span<const WideFamily> wideFamilies();

/// The family of a module; null for a module that is in none.
const WideFamily* wideFamily(std::string_view module);

} // namespace octavo::checkpoint
