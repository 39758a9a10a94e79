// Versions of VHLO, the encoding of StableHLO in portable artifacts.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <compare>
#include <optional>
#include <string>

namespace octavo::vhlo {

/// A version, ordered by its numbers.
struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0; ///< does not change the encoding; kept in the producer's name

  /// `1.8.0`
  std::string text() const;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// The oldest version that can be read and written, and the newest that octavo has.
inline constexpr Version kOldest{0, 9, 0};
inline constexpr Version kNewest{1, 20, 0};
/// The version that jax.export of JAX 0.10.2 writes, so that readers up to four weeks older can
/// read it.
inline constexpr Version kDefaultTarget{1, 15, 0};

/// Parses `1.8.0`; nullopt for any other text.
std::optional<Version> parseVersion(llvm::StringRef text);

/// The version of MLIR's bytecode for artifacts of `version`.
int bytecodeVersion(const Version& version);

} // namespace octavo::vhlo
