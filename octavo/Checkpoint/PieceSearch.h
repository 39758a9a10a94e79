// Searches many weights in parallel for the first piece of each that has something to report.
#pragma once

#include "octavo/Checkpoint/Work.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace octavo::checkpoint {

struct NamedWeight;

/// A search of one weight, piece by piece.
struct PieceSearch {
  std::vector<Piece> pieces;
  std::uint64_t pieceMemory; ///< of one piece, at most
  std::uint64_t bytes;       ///< reported as progress when all pieces are done
  /// What to report about a piece; empty: nothing. Called from any thread.
  std::function<std::string(std::size_t piece, Scratch& scratch)> look;
};

/// For each search the text of its first piece that has one; later pieces may be skipped. Empty if
/// no piece has one. If settings.isInterrupted stops the work, the result is incomplete; the caller
/// checks that.
std::vector<std::string> search(std::span<const PieceSearch> searches,
                                const WorkSettings& settings);

/// The text of byteSearch for a piece whose bytes differ. Any other text is an error of reading.
inline constexpr std::string_view kBytesDiffer = "the bytes differ";

/// Searches the bytes of two weights for a difference. `bytes` is the progress of the whole search.
/// Precondition: haveSameParts.
PieceSearch byteSearch(const NamedWeight& first, const NamedWeight& second, std::uint64_t bytes);

} // namespace octavo::checkpoint
