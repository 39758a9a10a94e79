// Checks the scales of a layer as they are read.
#pragma once

#include "octavo/Checkpoint/Doubts.h"
#include "octavo/Checkpoint/LayerReader.h"
#include "octavo/Checkpoint/Piece.h"

#include <tl/expected.hpp>

#include <array>
#include <optional>

namespace octavo::checkpoint {

/// The doubt about a scale of this value; nullopt if it is positive and finite.
std::optional<Doubt> doubtOf(double scale);

/// Checks that the scales of a layer are positive and finite. Two exceptions: a scale of 0 over
/// codes that are all 0, which Transformer Engine writes, and byte 0 of E8M0, which is 2^-127.
class ScaleCheck {
public:
  /// The reader is copied; its layer must outlive the check.
  ScaleCheck(const LayerReader& reader, Doubts allowed);

  /// Checks a piece. Errors: the first scale that is doubtful and not allowed, with its index;
  /// reading the file.
  tl::expected<void, Error> operator()(Piece piece, Fetched& fetched) const;

private:
  tl::expected<void, Error> checkRows(Piece piece, Fetched& fetched) const;
  std::optional<Doubt> doubtAt(const std::byte* code) const;
  Error error(Doubt doubt, double value, std::int64_t row, std::int64_t block) const;

  LayerReader reader;
  Doubts allowed;
  /// The doubt of each code if a code is one byte.
  std::array<std::optional<Doubt>, 256> ofByte{};
};

/// Checks a part of one number, or one for each expert: an outer scale. If `isOverZeros`, all
/// values under it are 0, and a multiplier of 0 is accepted. Errors: the first number that is
/// doubtful and not allowed; reading the file.
tl::expected<void, Error> checkNumbers(const Part& part, Doubts allowed, bool isOverZeros = false);
/// Checks a scale of a layer's input or of a cache, on which no weight depends. Errors: as
/// checkNumbers.
tl::expected<void, Error> checkRunTimeNumbers(const Part& part, Doubts allowed);

/// Checks a layer's outer scale. If it multiplies by 0, the codes are read: over codes that are all
/// 0 it is accepted.
tl::expected<void, Error> checkOuterScale(const Layer& layer, Doubts allowed);

} // namespace octavo::checkpoint
