#include "octavo/Checkpoint/PairedRows.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace octavo::checkpoint {

namespace {

/// Whether tiles of `rows` rows are whole steps or divide a step evenly.
bool fits(std::int64_t rows, std::int64_t step) { return rows % step == 0 || step % rows == 0; }

/// Rows of a tile: about kTileValues values, also if that is less than a step of `a` or `b`.
std::int64_t tileRowsOf(const ValueRows& a, const ValueRows& b) {
  const std::int64_t whole = rowsOf(a, b.step(), kTileValues);
  if (a.step() == 0 || b.step() == 0 || whole * a.columns() <= kTileValues)
    return whole;
  std::int64_t rows =
      std::clamp<std::int64_t>(kTileValues / std::max<std::int64_t>(1, a.columns()), 1, whole);
  while (!fits(rows, a.step()) || !fits(rows, b.step()))
    --rows;
  return rows;
}

} // namespace

PairedRows::PairedRows(WeightRows first, WeightRows second)
    : a(std::move(first)), b(std::move(second)), all(piecesOf(a.rows(), b.rows().step())),
      tileRows(tileRowsOf(a.rows(), b.rows())) {}

tl::expected<PairedRows, Unpaired> PairedRows::open(const NamedWeight& first,
                                                    const NamedWeight& second) {
  const auto axes = [](const NamedWeight& weight, const NamedWeight& other) {
    return weight.plain && other.layer ? other.layer->plainAxes : PlainAxes::Same;
  };
  auto a = WeightRows::open(first, axes(first, second));
  auto b = WeightRows::open(second, axes(second, first));
  if (!a || !b)
    return tl::unexpected(Unpaired{false, (a ? b.error() : a.error()).message()});
  if (!std::ranges::equal(a->rows().shape(), b->rows().shape()))
    return tl::unexpected(
        Unpaired{true, fmt::format("[{}] and [{}]", fmt::join(first.shape(), ", "),
                                   fmt::join(second.shape(), ", "))});
  return PairedRows(std::move(*a), std::move(*b));
}

std::uint64_t PairedRows::pieceMemory() const {
  // Four buffers of f32 width at most: the values of both, the fetched bytes, and a transposed
  // copy.
  return static_cast<std::uint64_t>(std::max<std::int64_t>(0, tileRows * columns())) * 4 *
         sizeof(float);
}

tl::expected<void, Error> PairedRows::read(Piece tile, Scratch& scratch) const {
  const auto n = static_cast<std::size_t>((tile.end - tile.begin) * columns());
  scratch.values.resize(n);
  scratch.restored.resize(n);
  return first().read(tile, scratch.values.data(), scratch).and_then([&] {
    return second().read(tile, scratch.restored.data(), scratch);
  });
}

} // namespace octavo::checkpoint
