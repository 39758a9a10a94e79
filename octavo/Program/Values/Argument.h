// What a program takes: its arguments by name and type, without MLIR.
#pragma once

#include "octavo/Numerics/Scaled.h"
#include "octavo/Numerics/Tensor.h"
#include "octavo/Program/Values/Value.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace octavo::program {

/// An argument that is a scaled tensor: a float tensor bound to it is quantized with these options.
struct ScaledArgument {
  numerics::ScaledType type;
  numerics::QuantizeOptions options;
  /// First the value at place i of `axis` is multiplied by 2^exponents[i]; empty: none is.
  std::vector<std::int8_t> exponents = {};
  std::size_t axis = 0;

  friend bool operator==(const ScaledArgument&, const ScaledArgument&) = default;
};

/// An extent that the program leaves open, as `?` in its text: a value of any extent fits.
inline constexpr std::int64_t kUnknownExtent = std::numeric_limits<std::int64_t>::min();

struct Argument {
  std::string name;
  std::vector<std::int64_t> shape; ///< kUnknownExtent where any will do
  std::variant<numerics::ElementType, ScaledArgument> type;
  bool isParameter = false;  ///< a weight: bound by name only, never by position
  bool isOfPlatform = false; ///< which of jax.export's platforms the program runs on: as a weight
  std::optional<Value> given = {}; ///< its value where no file has one

  bool isScaled() const { return std::holds_alternative<ScaledArgument>(type); }
  /// Whether a value of that shape may be bound to it.
  bool takes(std::span<const std::int64_t> given) const;
  /// `f32[384, 384]`, or `e2m1fn[384, 384] scaled by e8m0fnu a block of [1, 32]`.
  std::string describe() const;
};

struct Result {
  std::string name;
  numerics::ElementType type;
  std::vector<std::int64_t> shape; ///< kUnknownExtent where arguments decide
};

/// `f32[384, ?]`.
std::string describe(const numerics::ElementType& type, std::span<const std::int64_t> shape);

/// The type of the elements in files: the storage of a quantized type, any other itself.
numerics::ElementType typeInFiles(const numerics::ElementType& type);

/// The first element of what is stored for a quantized type, by `stored` of typeInFiles(type), that
/// lies beyond the storage's least or greatest value; nothing for other types.
struct BeyondStorage {
  std::int64_t index; ///< row-major
  double value;
};
std::optional<BeyondStorage> firstBeyondStorage(const numerics::ElementType& type,
                                                const numerics::Tensor& stored);

/// Bits that a tensor or scaled tensor takes when codes are packed: elements, scales, and the outer
/// scale. A boolean takes a byte.
std::uint64_t storedBits(const Value& value);

} // namespace octavo::program
