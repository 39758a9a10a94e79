// Element types of a tensor: floats, integers, complex numbers, or quantized integers that stand
// for real numbers.
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

/// Complex numbers with parts in f32 or f64. In memory the real part comes first.
struct ComplexType {
  const ElementFormat* part;
  friend bool operator==(const ComplexType&, const ComplexType&) = default;
};

/// Integers that stand for (storage - zero point) * scale. There is one scale and zero point for
/// the tensor, or one of each for every index along `axis`.
struct QuantizedType {
  IntegerType storage;
  std::int64_t storageMin, storageMax;
  const ElementFormat* expressed;
  std::vector<double> scales;
  std::vector<std::int64_t> zeroPoints; ///< as many as scales
  std::optional<std::int64_t> axis;     ///< nullopt: one scale for the tensor
  friend bool operator==(const QuantizedType&, const QuantizedType&) = default;
};

/// An element type of one of these four kinds.
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

  /// The type of its kind. Throws std::bad_variant_access if the type is of another kind.
  const ElementFormat& format() const { return *std::get<const ElementFormat*>(type); }
  IntegerType integer() const { return std::get<IntegerType>(type); }
  const ElementFormat& part() const { return *std::get<ComplexType>(type).part; }
  const QuantizedType& quantized() const { return *std::get<QuantizedPointer>(type); }

  /// Bits of one element; of a complex number, bits of both parts.
  int width() const;
  /// Bytes of the container of one element: 1, 2, 4 or 8; complex<f64> has 16.
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
