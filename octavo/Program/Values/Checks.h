// What the check.* operations of a program met while it ran.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace octavo::program {

/// One check that did not hold, at the first element where it did not.
struct CheckFailure {
  std::string function;
  std::string operation;           ///< name: check.expect_eq, ...
  std::string location;            ///< file:line:column where the program has one
  std::vector<std::int64_t> index; ///< of the first element that differs; empty for a scalar
  std::string expected;
  std::string found;
  std::int64_t count = 1; ///< number of elements that differ

  /// One line of text that says all of it.
  std::string message() const;
};

struct CheckReport {
  std::int64_t held = 0;
  std::vector<CheckFailure> failures;
};

} // namespace octavo::program
