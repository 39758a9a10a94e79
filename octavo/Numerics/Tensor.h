// A dense tensor of any element type as bytes in memory: the type of values of the interpreter, of
// bound arguments and of checkpoints. Codes are not packed: each element has a container of 1, 2,
// 4, 8 or 16 bytes, little-endian, row-major.
#pragma once

#include "octavo/Numerics/Bytes.h"
#include "octavo/Numerics/ElementType.h"
#include "octavo/Numerics/Scaled.h"

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace octavo::numerics {

/// Number of elements of a shape; 1 for rank 0.
inline std::int64_t elementCount(std::span<const std::int64_t> shape) {
  std::int64_t n = 1;
  for (std::int64_t extent : shape)
    n *= extent;
  return n;
}

struct Tensor {
  ElementType type;
  std::vector<std::int64_t> shape;
  Bytes bytes;

  /// All zero bytes.
  static Tensor zeros(ElementType type, std::vector<std::int64_t> shape) {
    const auto n = static_cast<std::size_t>(elementCount(shape)) * type.bytes();
    return {std::move(type), std::move(shape), Bytes(n)};
  }

  std::int64_t size() const { return elementCount(shape); }

  /// The elements as a C++ type of the container's size: float for f32, uint8_t for FP8 codes. A
  /// complex tensor gives its parts: twice as many floats or doubles.
  template <typename T> std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T> std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// The bytes of element `i`.
  std::span<std::byte> element(std::int64_t i) {
    return std::span(bytes).subspan(static_cast<std::size_t>(i * type.bytes()), type.bytes());
  }
  std::span<const std::byte> element(std::int64_t i) const {
    return std::span(bytes).subspan(static_cast<std::size_t>(i * type.bytes()), type.bytes());
  }

  /// The code of element `i`, zero-extended. The container has at most 8 bytes.
  std::uint64_t code(std::int64_t i) const {
    assert(type.bytes() <= 8);
    std::uint64_t code = 0;
    std::memcpy(&code, bytes.data() + i * type.bytes(), type.bytes());
    return code;
  }
  void setCode(std::int64_t i, std::uint64_t code) {
    assert(type.bytes() <= 8);
    std::memcpy(bytes.data() + i * type.bytes(), &code, type.bytes());
  }

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

} // namespace octavo::numerics
