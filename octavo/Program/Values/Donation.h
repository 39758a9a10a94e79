// Which memory of arguments a program gives away for its results.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace octavo::program {

/// The memory of the argument may become that of the result, which is of its type.
struct Donation {
  std::size_t argument, result;

  bool operator==(const Donation&) const = default;
};

/// Of all that a program allows, one for each argument and each result: first come, first served.
std::vector<Donation> oneForEach(std::span<const Donation> donations);

} // namespace octavo::program
