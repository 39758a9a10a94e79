// Consecutive groups of rows whose sizes the program computes. Each group has its own right
// operand, such as an expert for the tokens that a router assigns to it.
#pragma once

#include "octavo/Program/Steps/Chain.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace octavo::program {

class ProgramFields;

/// Each group begins where the previous one ends. Rows after the last group belong to no group.
/// Sizes are cut to the rows that there are.
struct RowGroups {
  Slot sizes; ///< `count` consecutive integers
  int bytes = 4;
  bool isUnsigned = false;
  std::int64_t count = 1;

  /// The size of a group, for signed integers.
  std::int64_t size(const Frame& frame, std::int64_t group) const {
    const int unused = 64 - 8 * bytes;
    return static_cast<std::int64_t>(bitsOf(frame, group) << unused) >> unused;
  }
  /// The first group with a negative size; nullopt if there is none.
  std::optional<std::int64_t> negative(const Frame& frame) const {
    for (std::int64_t group = 0; group < count && !isUnsigned; ++group)
      if ((bitsOf(frame, group) >> (8 * bytes - 1) & 1) != 0)
        return group;
    return std::nullopt;
  }
  /// Calls `visit(group, begin, end)` for the rows of each group within the range, and with `count`
  /// as the group for rows of no group. Empty groups are not visited.
  template <typename Visit>
  void forEach(const Frame& frame, const RowRange& range, const Visit& visit) const {
    std::int64_t begin = 0;
    for (std::int64_t group = 0; group <= count && begin < range.end; ++group) {
      const std::int64_t left = range.count - begin;
      const std::int64_t size =
          group == count ? left
                         : static_cast<std::int64_t>(
                               std::min(bitsOf(frame, group), static_cast<std::uint64_t>(left)));
      const std::int64_t first = std::max(begin, range.begin),
                         last = std::min(begin + size, range.end);
      if (first < last)
        visit(group, first, last);
      begin += size;
    }
  }
  /// Writes or reads the fields.
  void fields(ProgramFields& fields);

private:
  std::uint64_t bitsOf(const Frame& frame, std::int64_t group) const {
    std::uint64_t bits = 0;
    std::memcpy(&bits, frame.at(sizes) + group * bytes, static_cast<std::size_t>(bytes));
    return bits;
  }
};

/// Extends `rows` within `range` to at least `least` rows. Returns `rows` if the range has fewer.
inline RowRange atLeast(std::int64_t least, const RowRange& rows, const RowRange& range) {
  if (rows.size() >= least || range.size() < least)
    return rows;
  const std::int64_t begin = std::min(rows.begin, range.end - least);
  return {begin, begin + least, range.count};
}

/// An error if a group size is one that the operation refuses.
Outcome checkGroups(const Step& step, const RowGroups& groups, const Frame& frame);

} // namespace octavo::program
