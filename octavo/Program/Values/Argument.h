// The arguments and results of a program, by name and type, without MLIR.
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

/// The type of an argument that is a scaled tensor. A float tensor that is bound to it is quantized
/// with these options.
struct ScaledArgument {
  numerics::ScaledType type;
  numerics::QuantizeOptions options;
  /// Before quantization, values at index i of `axis` are multiplied by 2^exponents[i]. Empty: no
  /// multiplication.
  std::vector<std::int8_t> exponents = {};
  std::size_t axis = 0;

  friend bool operator==(const ScaledArgument&, const ScaledArgument&) = default;
};

/// An extent that is `?` in the program's text: any value fits.
inline constexpr std::int64_t kUnknownExtent = std::numeric_limits<std::int64_t>::min();

/// An argument of a function.
struct Argument {
  std::string name;
  std::vector<std::int64_t> shape; ///< kUnknownExtent: any extent fits
  std::variant<numerics::ElementType, ScaledArgument> type;
  bool isParameter = false;        ///< a weight: bound by name, never by position
  bool isOfPlatform = false;       ///< jax.export's `_platform_index`; bound like a weight
  std::optional<Value> given = {}; ///< the value if no file provides one

  bool isScaled() const { return std::holds_alternative<ScaledArgument>(type); }
  /// Whether a value of this shape may be bound.
  bool takes(std::span<const std::int64_t> given) const;
  /// `f32[384, 384]`, or `e2m1fn[384, 384] scaled by e8m0fnu a block of [1, 32]`.
  std::string describe() const;
};

/// A result of a function.
struct Result {
  std::string name;
  numerics::ElementType type;
  std::vector<std::int64_t> shape; ///< kUnknownExtent: follows from the arguments
};

/// `f32[384, ?]`.
std::string describe(const numerics::ElementType& type, std::span<const std::int64_t> shape);

/// The element type in files: the storage type of a quantized type, else the type itself.
numerics::ElementType typeInFiles(const numerics::ElementType& type);

/// The first element of `stored`, a tensor of typeInFiles(type), that is beyond the storage minimum
/// or maximum of the quantized type. nullopt for other types.
struct BeyondStorage {
  std::int64_t index; ///< row-major index
  double value;
};
std::optional<BeyondStorage> firstBeyondStorage(const numerics::ElementType& type,
                                                const numerics::Tensor& stored);

/// Bits of a tensor or scaled tensor with packed codes: elements, scales and the outer scale. A
/// boolean counts as a byte.
std::uint64_t storedBits(const Value& value);

} // namespace octavo::program
