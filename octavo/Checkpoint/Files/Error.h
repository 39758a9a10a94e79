// What went wrong with a file, in the words a user needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace octavo::checkpoint {

/// An error in a file. Every field but `file` and `problem` may be empty.
struct Error {
  std::string file;
  std::string problem;                      ///< what is wrong, as a clause
  std::string tensor = {};                  ///< the tensor it is about
  std::optional<std::uint64_t> offset = {}; ///< where in the file, in bytes from its start
  std::string expected = {};
  std::string found = {};
  std::string fix = {}; ///< what to do next

  /// `FILE: tensor "T": PROBLEM: expected E, found F (at byte N); FIX`. Bytes of names that are
  /// not printable are escaped, long names shortened.
  std::string message() const;
};

/// `text` in double quotes, fit for a message: control bytes and bytes that are not UTF-8 escaped,
/// cut after 200 bytes.
std::string inQuotes(std::string_view text);

} // namespace octavo::checkpoint
