// How a product of two formats runs on an instruction set: which loops, and what K is cut into; or
// why the formats are not multiplied.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Product/ProductKernels.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace octavo::kernels {

using format::ElementFormat;

/// What one operand is made of. `along` is the block's extent on K, `across` on the other axis;
/// format::kWholeAxis is all of it. A null scale: plain f32 (left only).
struct OperandFormat {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t across = 1;
  std::int64_t along = 32;
};

/// The row's element, scale and blocks.
OperandFormat operandFormat(const format::ScaledFormat& format);
/// f32 activations.
OperandFormat floatOperand();

/// How a product of two formats runs on an instruction set.
struct ProductPlan {
  Isa isa;
  OperandFormat left, right;
  std::int64_t depth; ///< K
  Dot dot;
  std::int32_t offset;      ///< added to the right operand's integers
  std::int32_t quantum;     ///< exponent of the unit of products of integers
  std::int32_t piece;       ///< 16 or 32
  std::int64_t pieces;      ///< of K
  std::int64_t piecesInSum; ///< more than 1: wide blocks
  bool scaleProductIsExact; ///< in f32, range permitting
  bool termIsExact;         ///< the same of a piece's sum times that product
  bool digitRows;           ///< f32 activations are packed as three rows of digits each
  /// Up to so many rows are summed in a way of their own (Product.h); 0 where none are.
  std::int64_t mostFewRows;
  /// The float path, in place of all from `dot` on.
  bool floats;
  FloatDot floatDot;
  bool leftAsValues, rightAsValues; ///< packed as f32, not as codes
  std::int64_t groups;              ///< of 32 along K
  std::int64_t groupsInBlock;       ///< of the f32 scales; `groups` where none cuts K

  /// Of floats: which block of f32 scales has an index of K, and where it ends. Others have one.
  std::int64_t blockOf(std::int64_t k) const { return floats ? k / (groupsInBlock * kGroup) : 0; }
  std::int64_t endOfBlock(std::int64_t block) const {
    return floats ? (block + 1) * groupsInBlock * kGroup : depth;
  }
  /// Steps of K in a piece.
  int steps() const { return piece / (dot == Dot::Words ? 2 : 4); }
};

/// The plan, or why there is none: which formats, blocks or depth are not multiplied, and what is.
tl::expected<ProductPlan, std::string> productPlan(const OperandFormat& left,
                                                   const OperandFormat& right, std::int64_t depth,
                                                   Isa isa = defaultIsa());

} // namespace octavo::kernels
