#include "octavo/Checkpoint/Jobs/AmaxMeasurement.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace octavo::checkpoint {

void AmaxMeasurement::add(std::shared_ptr<const ValueRows> rows) {
  for (const Piece& piece : piecesOf(*rows)) {
    all.push_back(piece);
    sourceOf.push_back(sources.size());
  }
  sources.push_back(std::move(rows));
}

tl::expected<void, Error> AmaxMeasurement::measure(std::size_t piece, Scratch& scratch) {
  const ValueRows& rows = *sources[sourceOf[piece]];
  const Piece range = all[piece];
  const auto found = rows.amax(range, scratch);
  if (!found)
    return tl::unexpected(found.error());
  if (!std::isfinite(*found)) {
    scratch.values.resize(static_cast<std::size_t>((range.end - range.begin) * rows.columns()));
    if (auto done = rows.read(range, scratch.values.data(), scratch); !done)
      return done;
    const auto first =
        std::ranges::find_if_not(scratch.values, [](float value) { return std::isfinite(value); });
    return tl::unexpected(nonFiniteError(
        rows, range.begin * rows.columns() + (first - scratch.values.begin()), *first));
  }
  greatest.raise(std::bit_cast<std::uint32_t>(*found));
  return {};
}

float AmaxMeasurement::amax() const { return std::bit_cast<float>(greatest.get()); }

} // namespace octavo::checkpoint
