#include "octavo/Checkpoint/PieceSearch.h"

#include "octavo/Checkpoint/WeightList.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

namespace octavo::checkpoint {

namespace {

constexpr std::uint64_t kComparedBytes = std::uint64_t{1} << 20;

/// Bytes [begin, end) of two tensors of the same size.
struct BytePair {
  StoredTensor first, second;
  std::uint64_t begin, end;
};

std::string differenceOf(const BytePair& pair, Scratch& scratch) {
  const std::size_t n = pair.end - pair.begin;
  scratch.codes.resize(n);
  scratch.scales.resize(n);
  const auto done = pair.first.fetch(pair.begin, scratch.codes).and_then([&] {
    return pair.second.fetch(pair.begin, scratch.scales);
  });
  if (!done)
    return done.error().message();
  return n == 0 || std::memcmp(scratch.codes.data(), scratch.scales.data(), n) == 0
             ? ""
             : std::string(kBytesDiffer);
}

} // namespace

std::vector<std::string> search(std::span<const PieceSearch> searches,
                                const WorkSettings& settings) {
  struct Task {
    std::size_t search, piece;
  };
  std::vector<Task> tasks;
  std::uint64_t pieceMemory = 0;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    pieceMemory = std::max(pieceMemory, searches[i].pieceMemory);
    for (std::size_t piece = 0; piece < searches[i].pieces.size(); ++piece)
      tasks.push_back({i, piece});
  }
  struct Found {
    std::mutex mutex;
    std::atomic<std::size_t> piece = std::numeric_limits<std::size_t>::max();
    std::string text;
  };
  const auto found = std::make_unique<Found[]>(searches.size());
  static_cast<void>(
      inParallel(settings, pieceMemory, tasks.size(),
                 [&](std::size_t i, Scratch& scratch) -> tl::expected<void, Error> {
                   const auto [index, piece] = tasks[i];
                   const PieceSearch& each = searches[index];
                   Found& first = found[index];
                   if (piece < first.piece)
                     if (std::string text = each.look(piece, scratch); !text.empty()) {
                       const std::lock_guard lock(first.mutex);
                       if (piece < first.piece) {
                         first.piece = piece;
                         first.text = std::move(text);
                       }
                     }
                   const std::uint64_t n = each.pieces.size();
                   settings.advance(each.bytes * (piece + 1) / n - each.bytes * piece / n);
                   return {};
                 }));
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < searches.size(); ++i)
    texts.push_back(std::move(found[i].text));
  return texts;
}

PieceSearch byteSearch(const NamedWeight& first, const NamedWeight& second, std::uint64_t bytes) {
  auto pairs = std::make_shared<std::vector<BytePair>>();
  const std::vector<StoredTensor> a = tensorsOf(first), b = tensorsOf(second);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::uint64_t begin = 0; begin < a[i].size(); begin += kComparedBytes)
      pairs->push_back({a[i], b[i], begin, std::min(begin + kComparedBytes, a[i].size())});
  return {.pieces = std::vector<Piece>(pairs->size()),
          .pieceMemory = 2 * kComparedBytes,
          .bytes = bytes,
          .look = [pairs](std::size_t piece, Scratch& scratch) {
            return differenceOf((*pairs)[piece], scratch);
          }};
}

} // namespace octavo::checkpoint
