// Versions of VHLO, the form in which StableHLO is kept in portable artifacts.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <compare>
#include <optional>
#include <string>

namespace octavo::vhlo {

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0; ///< changes nothing in the encoding; kept in the name of the producer

  std::string text() const;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// The first version whose artifacts stay readable, and the newest that octavo knows.
inline constexpr Version kOldest{0, 9, 0};
inline constexpr Version kNewest{1, 20, 0};
/// What jax.export of JAX 0.10.2 asks for, so that readers four weeks older follow.
inline constexpr Version kDefaultTarget{1, 15, 0};

/// `1.8.0`; nothing for any other text.
std::optional<Version> parseVersion(llvm::StringRef text);

/// MLIR's bytecode version in which artifacts of that version are written.
int bytecodeVersion(const Version& version);

} // namespace octavo::vhlo
