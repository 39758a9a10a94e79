#include "octavo/Program/Folder/FileDigest.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace octavo::program {

namespace {

// https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md, with the seed 0.
constexpr std::uint64_t kPrime1 = 0x9E3779B185EBCA87, kPrime2 = 0xC2B2AE3D27D4EB4F,
                        kPrime3 = 0x165667B19E3779F9, kPrime4 = 0x85EBCA77C2B2AE63,
                        kPrime5 = 0x27D4EB2F165667C5;

template <typename Word> Word wordAt(const std::byte* bytes) {
  Word word = 0;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

std::uint64_t mixed(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * kPrime2, 31) * kPrime1;
}

} // namespace

void FileDigest::addStripe(const std::byte* stripe) {
  for (std::size_t i = 0; i < kLanes; ++i)
    lanes[i] = mixed(lanes[i], wordAt<std::uint64_t>(stripe + i * sizeof(std::uint64_t)));
}

void FileDigest::add(std::span<const std::byte> bytes) {
  const std::size_t before = size % kStripe;
  size += bytes.size();
  if (before != 0) {
    const std::size_t taken = std::min(kStripe - before, bytes.size());
    std::ranges::copy(bytes.first(taken), rest.begin() + static_cast<std::ptrdiff_t>(before));
    bytes = bytes.subspan(taken);
    if (before + taken < kStripe)
      return;
    addStripe(rest.data());
  }
  for (; bytes.size() >= kStripe; bytes = bytes.subspan(kStripe))
    addStripe(bytes.data());
  std::ranges::copy(bytes, rest.begin());
}

std::uint64_t FileDigest::value() const {
  std::uint64_t hash = kPrime5;
  if (size >= kStripe) {
    hash = std::rotl(lanes[0], 1) + std::rotl(lanes[1], 7) + std::rotl(lanes[2], 12) +
           std::rotl(lanes[3], 18);
    for (const std::uint64_t lane : lanes)
      hash = (hash ^ mixed(0, lane)) * kPrime1 + kPrime4;
  }
  hash += size;
  const std::byte* at = rest.data();
  const std::byte* const end = at + size % kStripe;
  for (; end - at >= 8; at += 8)
    hash = std::rotl(hash ^ mixed(0, wordAt<std::uint64_t>(at)), 27) * kPrime1 + kPrime4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ wordAt<std::uint32_t>(at) * kPrime1, 23) * kPrime2 + kPrime3;
    at += 4;
  }
  for (; at != end; ++at)
    hash = std::rotl(hash ^ static_cast<std::uint64_t>(*at) * kPrime5, 11) * kPrime1;
  hash = (hash ^ hash >> 33) * kPrime2;
  hash = (hash ^ hash >> 29) * kPrime3;
  return hash ^ hash >> 32;
}

std::uint64_t fileDigest(std::span<const std::byte> bytes) {
  FileDigest digest;
  digest.add(bytes);
  return digest.value();
}

} // namespace octavo::program
