// What the elements of a tensor are: floats, integers, complex numbers, or integers that stand for
// real numbers (quantized).
#pragma once

#include "octavo/Format/ElementFormat.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace octavo::numerics {

using format::ElementFormat;

/// Integer element types of StableHLO: width 1 (booleans), 2, 4, 8, 16, 32 or 64 bits.
struct IntegerType {
  int width;
  bool isUnsigned;
  friend bool operator==(const IntegerType&, const IntegerType&) = default;
};

/// A real and an imaginary part of one float format, f32 or f64; in memory the real part first.
struct ComplexType {
  const ElementFormat* part;
  friend bool operator==(const ComplexType&, const ComplexType&) = default;
};

/// Integers that stand for (storage - zero point) * scale: one pair for the tensor, or one for each
/// index along `axis`.
struct QuantizedType {
  IntegerType storage;
  std::int64_t storageMin, storageMax;
  const ElementFormat* expressed;
  std::vector<double> scales;
  std::vector<std::int64_t> zeroPoints; ///< as many as scales
  std::optional<std::int64_t> axis;     ///< nothing: one scale for the tensor
  friend bool operator==(const QuantizedType&, const QuantizedType&) = default;
};

/// One of the four kinds. Code that takes an element type apart asks for its kind first.
class ElementType {
public:
  ElementType(const ElementFormat& format) : type(&format) {}
  ElementType(IntegerType integer) : type(integer) {}
  ElementType(ComplexType complex) : type(complex) {}
  ElementType(QuantizedType quantized)
      : type(std::make_shared<const QuantizedType>(std::move(quantized))) {}

  bool isFloat() const { return std::holds_alternative<const ElementFormat*>(type); }
  bool isInteger() const { return std::holds_alternative<IntegerType>(type); }
  bool isComplex() const { return std::holds_alternative<ComplexType>(type); }
  bool isQuantized() const { return std::holds_alternative<QuantizedPointer>(type); }
  bool isBoolean() const { return isInteger() && integer().width == 1; }

  /// Each requires that the type is of that kind.
  const ElementFormat& format() const { return *std::get<const ElementFormat*>(type); }
  IntegerType integer() const { return std::get<IntegerType>(type); }
  const ElementFormat& part() const { return *std::get<ComplexType>(type).part; }
  const QuantizedType& quantized() const { return *std::get<QuantizedPointer>(type); }

  /// Bits of one element, both parts of a complex one.
  int width() const;
  /// Bytes of the container of one element: 1, 2, 4, 8 or, of complex<f64>, 16.
  int bytes() const;
  /// MLIR's spelling: f8E4M3FN, i32, ui8, i1, complex<f32>, !quant.uniform<i8:f32, 0.5:3>.
  std::string name() const;

  friend bool operator==(const ElementType& a, const ElementType& b) {
    return a.isQuantized() && b.isQuantized() ? a.quantized() == b.quantized() : a.type == b.type;
  }

private:
  using QuantizedPointer = std::shared_ptr<const QuantizedType>;

  std::variant<const ElementFormat*, IntegerType, ComplexType, QuantizedPointer> type;
};

} // namespace octavo::numerics
