#include "octavo/Checkpoint/ScaleCheck.h"

#include "octavo/Checkpoint/BlocksWithValues.h"
#include "octavo/Checkpoint/StoredCode.h"
#include "octavo/Numerics/Conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace octavo::checkpoint {

/// Rows that are checked at a time, unless a row of blocks has more.
static constexpr std::int64_t kRows = 1024;

std::optional<Doubt> doubtOf(double scale) {
  if (std::isnan(scale))
    return Doubt::NanScale;
  if (scale < 0)
    return Doubt::NegativeScale;
  if (std::isinf(scale))
    return Doubt::InfScale;
  return scale == 0 ? std::optional(Doubt::ZeroScale) : std::nullopt;
}

static double decoded(const format::ElementFormat& format, const std::byte* code) {
  return numerics::decode(format, codeAt(format, code));
}

ScaleCheck::ScaleCheck(const LayerReader& reader, Doubts allowed)
    : reader(reader), allowed(allowed) {
  if (const format::ElementFormat& scale = *reader.layer().type.scale; scale.isNarrow())
    for (std::uint64_t code = 0; code < ofByte.size(); ++code)
      ofByte[code] = doubtOf(numerics::decode(scale, code));
}

std::optional<Doubt> ScaleCheck::doubtAt(const std::byte* code) const {
  const format::ElementFormat& scale = *reader.layer().type.scale;
  return scale.isNarrow() ? ofByte[static_cast<std::uint8_t>(*code)]
                          : doubtOf(decoded(scale, code));
}

tl::expected<void, Error> ScaleCheck::operator()(Piece piece, Fetched& fetched) const {
  for (std::int64_t begin = piece.begin, end = 0; begin < piece.end; begin = end) {
    end = std::min(reader.pieceEnd(begin, kRows), piece.end);
    if (auto done = checkRows({begin, end}, fetched); !done)
      return done;
  }
  return {};
}

tl::expected<void, Error> ScaleCheck::checkRows(Piece piece, Fetched& fetched) const {
  const format::ElementFormat& scale = *reader.layer().type.scale;
  const auto width = static_cast<std::size_t>(scale.bytes());
  const auto count = static_cast<std::size_t>(reader.scaleCount(piece.begin, piece.end));
  std::vector<std::byte> codes(count * width);
  if (auto read = reader.scales(piece.begin, piece.end, codes.data(), fetched); !read)
    return read;
  // First row of the last row of blocks whose scales of 0 were all found to be over zeros.
  std::int64_t lookedAt = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* code = codes.data() + i * width;
    const std::optional<Doubt> doubt = doubtAt(code);
    if (!doubt || allowed.has(*doubt))
      continue;
    const auto inRow = static_cast<std::int64_t>(i) % reader.scalesInRow();
    const std::int64_t row =
        piece.begin + static_cast<std::int64_t>(i) / reader.scalesInRow() * reader.rowsInBlock();
    if (*doubt != Doubt::ZeroScale)
      return tl::unexpected(error(*doubt, decoded(scale, code), row, inRow));
    if (std::exchange(lookedAt, row) == row)
      continue;
    // All scales of a row of blocks may be 0, so the row of blocks is checked once.
    const Piece blocks{row, std::min(row + reader.rowsInBlock(), piece.end)};
    const auto first =
        firstBlockWithValues(reader, blocks, [](double value) { return value == 0; }, fetched);
    if (!first)
      return tl::unexpected(first.error());
    if (*first)
      return tl::unexpected(error(*doubt, 0, row, **first));
  }
  return {};
}

Error ScaleCheck::error(Doubt doubt, double value, std::int64_t row, std::int64_t block) const {
  const Part& part = *reader.layer().scales;
  const std::int64_t inMatrix = reader.rowsInMatrix();
  const std::int64_t blockRow = row % inMatrix / reader.rowsInBlock();
  const std::string expert =
      reader.rows() > inMatrix ? fmt::format("{}, ", row / inMatrix) : std::string();
  return doubtError(doubt, part.tensor.shard->name(), part.tensor.name(), "positive, finite scales",
                    part.tensor.entry->shape.empty()
                        ? fmt::format("{}", value)
                        : fmt::format("{} at [{}{}, {}]", value, expert, blockRow, block));
}

/// The doubt about the multiplier: the inverse of 0 is infinite, the inverse of infinity is 0.
static Doubt asMultiplier(Doubt doubt, Meaning meaning) {
  if (meaning == Meaning::Divides && doubt == Doubt::ZeroScale)
    return Doubt::InfScale;
  if (meaning == Meaning::Divides && doubt == Doubt::InfScale)
    return Doubt::ZeroScale;
  return doubt;
}

namespace {

/// A doubtful number as an error shows it, with its index if there are several.
struct DoubtfulNumber {
  Doubt doubt;
  std::string text;
};

/// The first number of a part whose doubt is not allowed and counts(doubt); nullopt if there is
/// none.
template <typename Counts>
tl::expected<std::optional<DoubtfulNumber>, Error> firstDoubtful(const Part& part, Doubts allowed,
                                                                 Counts counts) {
  const auto bytes = part.tensor.bytes();
  if (!bytes)
    return tl::unexpected(bytes.error());
  const auto width = static_cast<std::size_t>(part.format->bytes());
  for (std::size_t i = 0; i < bytes->size() / width; ++i) {
    const double value = decoded(*part.format, bytes->data() + i * width);
    if (const std::optional<Doubt> doubt = doubtOf(value);
        doubt && !allowed.has(*doubt) && counts(*doubt))
      return DoubtfulNumber{*doubt, bytes->size() == width ? fmt::format("{}", value)
                                                           : fmt::format("{} at [{}]", value, i)};
  }
  return std::nullopt;
}

} // namespace

tl::expected<void, Error> checkNumbers(const Part& part, Doubts allowed, bool isOverZeros) {
  const auto found = firstDoubtful(part, allowed, [&](Doubt doubt) {
    return !isOverZeros || asMultiplier(doubt, part.meaning) != Doubt::ZeroScale;
  });
  if (!found)
    return tl::unexpected(found.error());
  if (!*found)
    return {};
  const DoubtfulNumber& number = **found;
  return tl::unexpected(doubtError(number.doubt, part.tensor.shard->name(), part.tensor.name(),
                                   "a positive, finite number", number.text,
                                   asMultiplier(number.doubt, part.meaning)));
}

tl::expected<void, Error> checkRunTimeNumbers(const Part& part, Doubts allowed) {
  const auto found = firstDoubtful(part, allowed, [](Doubt) { return true; });
  if (!found)
    return tl::unexpected(found.error());
  if (!*found)
    return {};
  return tl::unexpected(doubtOfInputs((*found)->doubt, part.tensor.shard->name(),
                                      part.tensor.name(), (*found)->text));
}

tl::expected<void, Error> checkOuterScale(const Layer& layer, Doubts allowed) {
  if (!layer.outer)
    return {};
  auto checked = checkNumbers(*layer.outer, allowed);
  if (checked || !checkNumbers(*layer.outer, allowed, true))
    return checked;
  // The only fault is a multiplier of 0, which loses nothing if all codes are 0.
  const auto held = blocksWithValues(layer, [](double) { return true; });
  if (!held)
    return tl::unexpected(held.error());
  return *held == 0 ? tl::expected<void, Error>() : checked;
}

} // namespace octavo::checkpoint
