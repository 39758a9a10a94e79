// XXH64 of a file's bytes, which are given in pieces: what `xxhsum -H1` prints. It tells a file
// that was damaged, or that is another one; not one that was forged.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace octavo::program {

class FileDigest {
public:
  void add(std::span<const std::byte> bytes);
  /// Of all bytes that were added.
  std::uint64_t value() const;

private:
  static constexpr std::size_t kLanes = 4, kStripe = kLanes * sizeof(std::uint64_t);

  void addStripe(const std::byte* stripe);

  std::array<std::uint64_t, kLanes> lanes = {0x60EA27EEADC0B5D6, 0xC2B2AE3D27D4EB4F, 0,
                                             0x61C8864E7A143579};
  std::array<std::byte, kStripe> rest = {}; ///< bytes that do not fill a stripe yet
  std::uint64_t size = 0;
};

/// The same of all bytes at once.
std::uint64_t fileDigest(std::span<const std::byte> bytes);

} // namespace octavo::program
