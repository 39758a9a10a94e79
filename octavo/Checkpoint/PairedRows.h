// The values of two weights side by side, in tiles that stay in the cache.
#pragma once

#include "octavo/Checkpoint/WeightList.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// Why two weights cannot be held against each other value by value.
struct Unpaired {
  bool haveOtherShapes; ///< else the values of one cannot be had
  std::string why;
};

class PairedRows {
public:
  /// A plain tensor is read along the axes of the layer beside it.
  static tl::expected<PairedRows, Unpaired> open(const NamedWeight& first,
                                                 const NamedWeight& second);

  const ValueRows& first() const { return a.rows(); }
  const ValueRows& second() const { return b.rows(); }
  std::int64_t columns() const { return b.rows().columns(); }
  std::span<const Piece> pieces() const { return all; }
  /// Memory that a piece takes, at most.
  std::uint64_t pieceMemory() const;

  /// Calls `use(tile, x, y)` for the tiles of a piece, with the values of both, which it
  /// may change; stops where it gives false. What a tile is depends on the shape and the blocks
  /// alone. Errors: of reading.
  template <typename Use>
  tl::expected<void, Error> forTiles(Piece piece, Scratch& scratch, Use use) const {
    for (std::int64_t begin = piece.begin; begin < piece.end; begin += tileRows) {
      const Piece tile{begin, std::min(begin + tileRows, piece.end)};
      if (auto done = read(tile, scratch); !done)
        return done;
      if (!use(tile, scratch.values.data(), scratch.restored.data()))
        break;
    }
    return {};
  }

private:
  PairedRows(WeightRows first, WeightRows second);
  /// Puts the values of a tile into `values` and `restored`.
  tl::expected<void, Error> read(Piece tile, Scratch& scratch) const;

  WeightRows a, b;
  std::vector<Piece> all;
  std::int64_t tileRows;
};

} // namespace octavo::checkpoint
