#include "octavo/Checkpoint/Lint/BlocksWithValues.h"

#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

tl::expected<std::optional<std::uint64_t>, Error>
blocksWithValues(const Layer& layer, const std::function<bool(double scale)>& isMeant) {
  const auto reader = LayerReader::open(layer);
  if (!reader)
    return std::optional<std::uint64_t>();
  constexpr std::int64_t kRows = 128; // of a piece where one block spans all rows
  const std::int64_t rows = std::min({reader->rows(), reader->rowsInBlock(), kRows});
  const std::int64_t columns = reader->columns(), along = reader->columnsInBlock();
  const format::ElementFormat& element = *layer.type.element;
  const format::ElementFormat& scale = *layer.type.scale;
  std::vector<std::uint8_t> codes(static_cast<std::size_t>(rows * columns));
  std::vector<std::byte> scales;
  Fetched fetched;
  std::uint64_t found = 0;
  for (std::int64_t begin = 0, end = 0; begin < reader->rows(); begin = end) {
    end = reader->pieceEnd(begin, rows);
    codes.resize(static_cast<std::size_t>((end - begin) * columns));
    scales.resize(static_cast<std::size_t>(reader->scaleCount(begin, end) * scale.bytes()));
    if (auto read = reader->scales(begin, end, scales.data(), fetched); !read)
      return tl::unexpected(std::move(read.error()));
    bool hasCodes = false;
    for (std::int64_t block = 0; block < reader->scalesInRow(); ++block) {
      std::uint64_t code = 0;
      std::memcpy(&code, scales.data() + block * scale.bytes(), scale.bytes());
      if (!isMeant(numerics::decode(scale, code)))
        continue;
      if (!std::exchange(hasCodes, true))
        if (auto read = reader->codes(begin, end, codes.data(), fetched); !read)
          return tl::unexpected(std::move(read.error()));
      bool hasValue = false;
      for (std::int64_t row = 0; row < end - begin && !hasValue; ++row)
        for (std::int64_t c = block * along; c < std::min((block + 1) * along, columns); ++c)
          hasValue |= numerics::decode(element, codes[row * columns + c]) != 0;
      found += hasValue;
    }
  }
  return found;
}

} // namespace octavo::checkpoint
