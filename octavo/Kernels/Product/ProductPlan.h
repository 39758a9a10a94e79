// The plan of a product of two formats on an instruction set: its loops and its division of K; or
// the reason why the formats cannot be multiplied.
#pragma once

#include "octavo/Format/ScaledFormat.h"
#include "octavo/Kernels/Product/ProductKernels.h"

#include <tl/expected.hpp>

#include <cstdint>
#include <string>

namespace octavo::kernels {

using format::ElementFormat;

/// The format of one operand. `along` is the block's extent on K, `across` its extent on the other
/// axis; format::kWholeAxis means the whole axis. A null scale means plain f32 (left only).
struct OperandFormat {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t across = 1;
  std::int64_t along = 32;
};

/// The operand format of a scaled format.
OperandFormat operandFormat(const format::ScaledFormat& format);
/// The operand format of plain f32 activations.
OperandFormat floatOperand();

/// How a product of two formats runs on an instruction set.
struct ProductPlan {
  Isa isa;
  OperandFormat left, right;
  std::int64_t depth; ///< K
  Dot dot;
  std::int32_t offset;      ///< added to the right operand's integers
  std::int32_t quantum;     ///< products of integers have the unit 2^quantum
  std::int32_t piece;       ///< extent of a piece along K: 16 or 32
  std::int64_t pieces;      ///< number of pieces in K
  std::int64_t piecesInSum; ///< pieces of one sum; above 1 for wide blocks
  bool scaleProductIsExact; ///< the product of two scales is exact in f32, within its range
  bool termIsExact;         ///< a piece's sum times that product is exact in f32, too
  bool digitRows;           ///< f32 activations are packed as three rows of digits each
  /// The most rows that have the order of sums for few rows (Product.h); 0 if there is no such
  /// order.
  std::int64_t mostFewRows;
  /// True: the float path, whose members follow; `dot` to `digitRows` are then unused.
  bool floats;
  FloatDot floatDot;
  bool leftAsValues, rightAsValues; ///< the operand is packed as f32, not as codes
  std::int64_t groups;              ///< number of groups of 32 along K
  std::int64_t groupsInBlock;       ///< groups of a block of f32 scales; `groups` if K is not cut

  /// The number of the block of f32 scales that contains index `k`, and the end of a block. If not
  /// `floats`, there is one block.
  std::int64_t blockOf(std::int64_t k) const { return floats ? k / (groupsInBlock * kGroup) : 0; }
  std::int64_t endOfBlock(std::int64_t block) const {
    return floats ? (block + 1) * groupsInBlock * kGroup : depth;
  }
  /// Steps of K in a piece.
  int steps() const { return piece / (dot == Dot::Words ? 2 : 4); }
};

/// The plan of a product. The error names the formats, blocks or depth that cannot be multiplied,
/// and the alternatives.
tl::expected<ProductPlan, std::string> productPlan(const OperandFormat& left,
                                                   const OperandFormat& right, std::int64_t depth,
                                                   Isa isa = defaultIsa());

} // namespace octavo::kernels
