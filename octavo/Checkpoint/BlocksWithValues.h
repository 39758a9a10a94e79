// Whether a scale that is wrong takes anything with it: over a block of zeros it does not.
#pragma once

#include "octavo/Checkpoint/Layer.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Piece.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <functional>
#include <optional>

namespace octavo::checkpoint {

using IsMeant = std::function<bool(double scale)>;

/// Of the blocks whose scale `isMeant`, how many hold a code that is not 0; nothing where the
/// layer's parts are missing or do not agree. Reads the codes of rows that have such a scale alone.
/// Errors: of reading the file.
tl::expected<std::optional<std::uint64_t>, Error> blocksWithValues(const Layer& layer,
                                                                   const IsMeant& isMeant);

/// The first such block of a piece that lies within one row of blocks, counted along that. Errors:
/// of reading the file.
tl::expected<std::optional<std::int64_t>, Error> firstBlockWithValues(const LayerReader& reader,
                                                                      Piece piece,
                                                                      const IsMeant& isMeant,
                                                                      Fetched& fetched);

} // namespace octavo::checkpoint
