// A dense tensor of any element type as bytes in memory: what the interpreter computes on, what the
// runtime binds, what checkpoints give. Codes are not packed here: one code a container of 1, 2, 4
// or 8 bytes, little-endian, row-major.
#pragma once

#include "octavo/Format/ElementFormat.h"
#include "octavo/Numerics/Scaled.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace octavo::numerics {

/// Integer element types of StableHLO: width 1 (booleans), 2, 4, 8, 16, 32 or 64 bits.
struct IntegerType {
  int width;
  bool isUnsigned;
  friend bool operator==(const IntegerType&, const IntegerType&) = default;
};

/// A float format of the table or an integer type.
class ElementType {
public:
  ElementType(const ElementFormat& format) : type(&format) {}
  ElementType(IntegerType integer) : type(integer) {}

  bool isFloat() const { return std::holds_alternative<const ElementFormat*>(type); }
  bool isInteger() const { return !isFloat(); }
  bool isBoolean() const { return isInteger() && integer().width == 1; }
  const ElementFormat& format() const { return *std::get<const ElementFormat*>(type); }
  IntegerType integer() const { return std::get<IntegerType>(type); }
  int width() const { return isFloat() ? format().width() : integer().width; }
  /// Bytes of the container of one element.
  int bytes() const {
    return isFloat() ? format().bytes() : integer().width <= 8 ? 1 : integer().width / 8;
  }
  /// As IR spells it: f8E4M3FN, i32, ui8, i1.
  std::string name() const {
    if (isFloat())
      return std::string(format().irName());
    return (integer().isUnsigned ? "ui" : "i") + std::to_string(integer().width);
  }
  friend bool operator==(const ElementType& a, const ElementType& b) { return a.type == b.type; }

private:
  std::variant<const ElementFormat*, IntegerType> type;
};

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
  std::vector<std::byte> bytes;

  /// All zero bytes.
  static Tensor zeros(ElementType type, std::vector<std::int64_t> shape) {
    const auto n = static_cast<std::size_t>(elementCount(shape)) * type.bytes();
    return {type, std::move(shape), std::vector<std::byte>(n)};
  }

  std::int64_t size() const { return elementCount(shape); }

  /// The elements as a C++ type of the container's size: float for f32, uint8_t for FP8 codes, ...
  template <typename T> std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <typename T> std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

  /// The code of element `i`, zero-extended.
  std::uint64_t code(std::int64_t i) const {
    std::uint64_t code = 0;
    std::memcpy(&code, bytes.data() + i * type.bytes(), type.bytes());
    return code;
  }
  void setCode(std::int64_t i, std::uint64_t code) {
    std::memcpy(bytes.data() + i * type.bytes(), &code, type.bytes());
  }

  friend bool operator==(const Tensor&, const Tensor&) = default;
};

} // namespace octavo::numerics
