// XXH64 of a file's bytes, added in pieces: what `xxhsum -H1` prints. It detects damaged or
// exchanged files, not forged ones.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::program {

/// Computes a digest incrementally.
class FileDigest {
public:
  void add(std::span<const std::byte> bytes);
  /// The digest of all bytes added so far.
  std::uint64_t value() const;

private:
  static constexpr std::size_t kLanes = 4, kStripe = kLanes * sizeof(std::uint64_t);

  void addStripe(const std::byte* stripe);

  std::array<std::uint64_t, kLanes> lanes = {0x60EA27EEADC0B5D6, 0xC2B2AE3D27D4EB4F, 0,
                                             0x61C8864E7A143579};
  std::array<std::byte, kStripe> rest = {}; ///< the last bytes, less than a stripe
  std::uint64_t size = 0;
};

/// The digest of `bytes`.
std::uint64_t fileDigest(std::span<const std::byte> bytes);

} // namespace octavo::program
