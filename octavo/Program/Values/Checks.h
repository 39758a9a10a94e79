// The results of a program's check.* operations.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::program {

/// A check that failed, described by the first element that differs.
struct CheckFailure {
  std::string function;
  std::string operation;           ///< name, such as check.expect_eq
  std::string location;            ///< file:line:column if the program has it
  std::vector<std::int64_t> index; ///< of the first element that differs; empty for a scalar
  std::string expected;
  std::string found;
  std::int64_t count = 1; ///< elements that differ

  /// All of this in one line of text.
  std::string message() const;
};

/// The checks of a run: how many held, and those that failed.
struct CheckReport {
  std::int64_t held = 0;
  std::vector<CheckFailure> failures;
};

} // namespace octavo::program
