#include "octavo/Checkpoint/BlocksWithValues.h"

#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

namespace {

/// Calls `visit(block)` for each block of `piece` whose scale satisfies `isMeant` and that holds a
/// code other than 0. Precondition: `piece` lies within one row of blocks.
template <typename Visit>
tl::expected<void, Error> forBlocksWithValues(const LayerReader& reader, Piece piece,
                                              const IsMeant& isMeant, Fetched& fetched,
                                              const Visit& visit) {
  const std::int64_t columns = reader.columns(), along = reader.columnsInBlock();
  const format::ElementFormat& element = *reader.layer().type.element;
  const format::ElementFormat& scale = *reader.layer().type.scale;
  std::vector<std::byte> scales(
      static_cast<std::size_t>(reader.scaleCount(piece.begin, piece.end) * scale.bytes()));
  if (auto read = reader.scales(piece.begin, piece.end, scales.data(), fetched); !read)
    return read;
  std::vector<std::uint8_t> codes;
  for (std::int64_t block = 0; block < reader.scalesInRow(); ++block) {
    if (!isMeant(numerics::decode(scale, codeAt(scale, scales.data() + block * scale.bytes()))))
      continue;
    if (codes.empty()) {
      codes.resize(static_cast<std::size_t>((piece.end - piece.begin) * columns));
      if (auto read = reader.codes(piece.begin, piece.end, codes.data(), fetched); !read)
        return read;
    }
    bool hasValue = false;
    for (std::int64_t row = 0; row < piece.end - piece.begin && !hasValue; ++row)
      for (std::int64_t c = block * along; c < std::min((block + 1) * along, columns); ++c)
        hasValue |= numerics::decode(element, codes[row * columns + c]) != 0;
    if (hasValue)
      visit(block);
  }
  return {};
}

} // namespace

tl::expected<std::optional<std::uint64_t>, Error> blocksWithValues(const Layer& layer,
                                                                   const IsMeant& isMeant) {
  const auto reader = LayerReader::open(layer);
  if (!reader)
    return std::optional<std::uint64_t>();
  constexpr std::int64_t kRows = 128; // rows of a piece if one block spans all rows
  const std::int64_t rows = std::min({reader->rows(), reader->rowsInBlock(), kRows});
  Fetched fetched;
  std::uint64_t found = 0;
  for (std::int64_t begin = 0, end = 0; begin < reader->rows(); begin = end) {
    end = reader->pieceEnd(begin, rows);
    if (auto done = forBlocksWithValues(*reader, {begin, end}, isMeant, fetched,
                                        [&](std::int64_t) { ++found; });
        !done)
      return tl::unexpected(std::move(done.error()));
  }
  return found;
}

tl::expected<std::optional<std::int64_t>, Error> firstBlockWithValues(const LayerReader& reader,
                                                                      Piece piece,
                                                                      const IsMeant& isMeant,
                                                                      Fetched& fetched) {
  std::optional<std::int64_t> first;
  return forBlocksWithValues(reader, piece, isMeant, fetched,
                             [&](std::int64_t block) { first = first.value_or(block); })
      .map([&] { return first; });
}

} // namespace octavo::checkpoint
