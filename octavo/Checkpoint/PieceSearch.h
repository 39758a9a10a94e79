// The first place in each of many weights where something is to be said.
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

/// A look at one weight, in pieces.
struct PieceSearch {
  std::vector<Piece> pieces;
  std::uint64_t pieceMemory; ///< of one piece, at most
  std::uint64_t bytes;       ///< that progress hears of when all are done
  /// What is to be said of a piece; empty for nothing. From any thread.
  std::function<std::string(std::size_t piece, Scratch& scratch)> look;
};

/// What each search has to say of the first of its pieces that has anything; those after it may not
/// be looked at. Whether work was interrupted, the caller asks.
std::vector<std::string> search(std::span<const PieceSearch> searches,
                                const WorkSettings& settings);

/// What byteSearch says of a piece with a byte that differs; other texts are errors of reading.
inline constexpr std::string_view kBytesDiffer = "the bytes differ";

/// A search of the bytes of two weights for one that differs. Precondition: haveSameParts.
PieceSearch byteSearch(const NamedWeight& first, const NamedWeight& second, std::uint64_t bytes);

} // namespace octavo::checkpoint
