// What went wrong with a file, in the words a user needs.
#pragma once

#include "octavo/Base/PrintableText.h"

#include <cstdint>
#include <optional>
#include <string>

namespace octavo::checkpoint {

using base::inQuotes;

/// An error in a file. Every field but `file` and `problem` may be empty.
struct Error {
  std::string file;
  std::string problem;                      ///< what is wrong, as a clause
  std::string tensor = {};                  ///< the tensor it is about
  std::optional<std::uint64_t> offset = {}; ///< where in the file, in bytes from its start
  std::string expected = {};
  std::string found = {};
  std::string fix = {}; ///< what to do next

  /// `FILE: tensor "T": PROBLEM: expected E, found F (at byte N); FIX`, printable
  /// (PrintableText.h).
  std::string message() const;
};

} // namespace octavo::checkpoint
