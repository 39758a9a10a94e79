// The memory of a tensor: bytes that it owns, or that it borrows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace octavo::numerics {

/// Owned bytes, or bytes borrowed from a lender such as a Python array or a mapped file. A copy
/// owns its bytes.
class Bytes {
public:
  Bytes() = default;
  /// Owned and zero.
  explicit Bytes(std::size_t size) : own(size), bytes(own) {}
  Bytes(std::vector<std::byte> own) : own(std::move(own)), bytes(this->own) {}
  /// Borrowed. `lender` keeps `bytes` alive.
  static Bytes lent(std::span<std::byte> bytes, std::shared_ptr<const void> lender) {
    Bytes result;
    result.bytes = bytes;
    result.isOthers = true;
    result.lender = std::move(lender);
    return result;
  }

  /// Owned and uninitialized.
  static Bytes unset(std::size_t size) {
    std::shared_ptr<std::byte[]> memory = std::make_shared_for_overwrite<std::byte[]>(size);
    Bytes result;
    result.bytes = {memory.get(), size};
    result.lender = std::move(memory);
    return result;
  }

  Bytes(const Bytes& other) : own(other.begin(), other.end()), bytes(own) {}
  Bytes(Bytes&& other) noexcept
      : own(std::move(other.own)), bytes(std::exchange(other.bytes, {})),
        isOthers(std::exchange(other.isOthers, false)), lender(std::move(other.lender)) {}
  Bytes& operator=(Bytes other) noexcept {
    own = std::move(other.own);
    bytes = other.bytes;
    isOthers = other.isOthers;
    lender = std::move(other.lender);
    return *this;
  }
  ~Bytes() = default;

  /// Whether the bytes are borrowed: their lender may read or write them.
  bool isLent() const { return isOthers; }

  std::byte* data() { return bytes.data(); }
  const std::byte* data() const { return bytes.data(); }
  std::size_t size() const { return bytes.size(); }
  bool empty() const { return bytes.empty(); }
  std::byte* begin() { return bytes.data(); }
  std::byte* end() { return bytes.data() + bytes.size(); }
  const std::byte* begin() const { return bytes.data(); }
  const std::byte* end() const { return bytes.data() + bytes.size(); }
  std::byte& operator[](std::size_t i) { return bytes[i]; }
  const std::byte& operator[](std::size_t i) const { return bytes[i]; }

  friend bool operator==(const Bytes& a, const Bytes& b) { return std::ranges::equal(a, b); }

private:
  std::vector<std::byte> own;
  std::span<std::byte> bytes;
  bool isOthers = false;
  std::shared_ptr<const void> lender; ///< owner of bytes that are not in `own`; may be null
};

} // namespace octavo::numerics
