// Error: what went wrong with a file, in terms that a user needs.
#pragma once

#include "octavo/Base/PrintableText.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::checkpoint {

using base::inQuotes;

/// An error in a file. Every field but `file` and `problem` may be empty.
struct Error {
  std::string file;                         ///< path of the file, or an option of the command
  std::string problem;                      ///< what is wrong, as a clause
  std::string tensor = {};                  ///< the name of the tensor concerned
  std::optional<std::uint64_t> offset = {}; ///< in bytes from the start of the file
  std::string expected = {};
  std::string found = {}; ///< what was found instead of `expected`
  std::string fix = {};   ///< what to do next

  /// The error as `FILE: tensor "T": PROBLEM: expected E, found F (at byte N); FIX`, with
  /// unprintable bytes escaped (PrintableText.h).
  std::string message() const;
};

} // namespace octavo::checkpoint
