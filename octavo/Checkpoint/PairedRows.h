// The values of two weights side by side, in tiles that fit the cache.
#pragma once

#include "octavo/Checkpoint/WeightList.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace octavo::checkpoint {

/// Why two weights cannot be compared value by value.
struct Unpaired {
  bool haveOtherShapes; ///< false: the values of one weight cannot be read
  std::string why;
};

/// Two weights of the same logical shape. They must outlive it.
class PairedRows {
public:
  /// Opens both. A plain tensor beside a layer is read with the layer's plainAxes.
  static tl::expected<PairedRows, Unpaired> open(const NamedWeight& first,
                                                 const NamedWeight& second);

  const ValueRows& first() const { return a.rows(); }
  const ValueRows& second() const { return b.rows(); }
  std::int64_t columns() const { return b.rows().columns(); }
  /// Pieces that respect the steps of both.
  std::span<const Piece> pieces() const { return all; }
  /// Memory that a piece takes at most, in bytes.
  std::uint64_t pieceMemory() const;

  /// Calls `use(tile, x, y)` for the tiles of a piece, with the values of both weights, which `use`
  /// may overwrite. Stops if `use` returns false. The tiles depend only on shapes and blocks, not
  /// on threads or memory. Errors: reading the file.
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
  /// Reads a tile: values of the first weight into scratch.values, of the second into
  /// scratch.restored.
  tl::expected<void, Error> read(Piece tile, Scratch& scratch) const;

  WeightRows a, b;
  std::vector<Piece> all;
  std::int64_t tileRows;
};

} // namespace octavo::checkpoint
