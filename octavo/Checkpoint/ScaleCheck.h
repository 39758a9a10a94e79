// The scales of a layer held against what scales are, where they are read anyway.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Piece.h"

#include <tl/expected.hpp>

#include <array>
#include <optional>

namespace octavo::checkpoint {

/// The doubt about a scale of this value; nothing where it is positive and finite.
std::optional<Doubt> doubtOf(double scale);

/// Holds the scales of pieces of a layer to be positive and finite; 0 is one over codes that are
/// all 0, as Transformer Engine writes them, and E8M0's byte 0 is 2^-127.
class ScaleCheck {
public:
  /// The reader is copied; its layer must outlive the check.
  ScaleCheck(const LayerReader& reader, Doubts allowed);

  /// Errors: the first scale of the piece that is doubtful and not allowed, with its index; of
  /// reading the file.
  tl::expected<void, Error> operator()(Piece piece, Fetched& fetched) const;

private:
  tl::expected<void, Error> checkRows(Piece piece, Fetched& fetched) const;
  std::optional<Doubt> doubtAt(const std::byte* code) const;
  Error error(Doubt doubt, double value, std::int64_t row, std::int64_t block) const;

  LayerReader reader;
  Doubts allowed;
  /// Of each code, where a code is a byte.
  std::array<std::optional<Doubt>, 256> ofByte{};
};

/// The same of a part that is a number, or one an expert: an outer scale, a scale of inputs or of a
/// cache. Errors: the first that is doubtful and not allowed; of reading the file. `isOverZeros`:
/// multiplying by 0 loses nothing.
tl::expected<void, Error> checkNumbers(const Part& part, Doubts allowed, bool isOverZeros = false);
/// The same of a scale of a layer's inputs or of a cache, under which there is no weight.
tl::expected<void, Error> checkRunTimeNumbers(const Part& part, Doubts allowed);

/// The outer scale of a layer; the codes are read where it multiplies by 0.
tl::expected<void, Error> checkOuterScale(const Layer& layer, Doubts allowed);

} // namespace octavo::checkpoint
