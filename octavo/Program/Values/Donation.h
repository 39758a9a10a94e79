// Donations: arguments whose memory a program may reuse for results.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace octavo::program {

/// The memory of `argument` may become that of `result`, which has the same type.
struct Donation {
  std::size_t argument, result;

  bool operator==(const Donation&) const = default;
};

/// A subset in which each argument and each result occurs at most once; earlier entries win.
std::vector<Donation> oneForEach(std::span<const Donation> donations);

} // namespace octavo::program
