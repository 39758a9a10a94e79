// Finds blocks under a wrong scale that hold a value. A wrong scale over a block of zeros changes
// nothing.
#pragma once

#include "octavo/Checkpoint/Layer.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Piece.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace octavo::checkpoint {

/// Selects the scales that are looked at, by their decoded value.
using IsMeant = std::function<bool(double scale)>;

/// Counts the blocks whose scale satisfies `isMeant` and that hold a code other than 0. A block
/// that spans all rows counts once for each 128 rows that hold such a code. Returns nullopt if
/// parts of the layer are missing or disagree. Reads codes only of rows of blocks that have a
/// selected scale. Errors: reading the file.
tl::expected<std::optional<std::uint64_t>, Error> blocksWithValues(const Layer& layer,
                                                                   const IsMeant& isMeant);

/// The index within its row of blocks of the first such block of `piece`; nullopt if there is none.
/// Precondition: `piece` lies within one row of blocks. Errors: reading the file.
tl::expected<std::optional<std::int64_t>, Error> firstBlockWithValues(const LayerReader& reader,
                                                                      Piece piece,
                                                                      const IsMeant& isMeant,
                                                                      Fetched& fetched);

} // namespace octavo::checkpoint
