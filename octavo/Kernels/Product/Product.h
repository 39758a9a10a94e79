// Products of scaled matrices, C[M, N] = A[M, K] * B[N, K]^T, followed by an epilogue (Epilogue.h,
// docs/semantics.md P). Both operands are contracted along their last axis and packed beforehand.
// Operands are in narrow formats that have a zero, under scales e8m0fnu, e4m3fn (with an outer f32
// scale) or f32; the left operand may also be plain f32. Every pair of rows of the table of scaled
// formats has a plan. For other pairs, productPlan reports why there is none: blocks that do not
// divide each other, or sums beyond 32 bits.
//
// 1. Integers (E2M1, E2M3, E3M2, INT8 on both sides). Each element of C has the bits of
// numerics::dot of the two rows, on every instruction set and with any number of threads. A piece
// of K (between two block edges of either operand) is summed exactly, scaled and rounded to f32
// once. Pieces are added in f32, in order of K, from +0. The outer scales multiply last.
//
// 2. Few rows of f32 activations against integers: on AVX2 up to 4 rows in the first case below,
// else up to 2; on other sets up to 16. A row's block of 16 or 32 becomes integers of 23 bits and a
// power of two: x = n * 2^e with |n| <= 2^22. n is x * 2^-e rounded to nearest, ties to even, where
// 2^(e+21) <= amax < 2^(e+22) (e >= -80). n is split into digits, n = 2^16 a + 2^8 b + c, with a, b
// and c from -128 to 127.
//  - E2M1 in blocks of 16 or 32 under 8-bit scales: the block's integer sum is exact. It is rounded
//    to f32, multiplied by the product of the scales, rounded again, and added as in 1. The error
//    against the exact product is at most, to first order,
//      sum over blocks of (amax * 2^-22 * sum |w| + 2^-23 * |term|) + (blocks - 1) * 2^-24 * sum
//      |terms|,
//    with amax of the block of x, and w the values of the weights.
//  - Other right operands: the digits a, b and c are three rows of integers, each multiplied as in
//    1. Their sums A, B, C are added as (A + B) + C, then the outer scale multiplies. The error is
//    at most
//      (2^-22 + (blocks + 4) * 2^-24 * 1.02) * sum over blocks of amax * sum |w|.
//
// 3. More rows of f32 activations, against integers and, from 17 rows on, against floats whose f32
// scales do not cut K. The right operand's values in f32, element * scale rounded once, are
// multiplied as plain matrices (PlainProduct.h, with its bound). For floats under f32 scales, the
// scale multiplies the sum instead. The outer scale multiplies last.
//
// 4. Floats (all other pairs, including f32 activations against 8-bit floats). Power-of-two scales
// and E4M3 scales are folded into the elements, exactly. Each element of C has one f32 sum over K:
//  - f32 multiply-adds, or dot products of pairs with AVX512_BF16: groups of 32 in order, with the
//    order within a group that ProductKernels.h states
//  - with AMX_BF16: in each group, one sum from +0 of the products of even k and one of odd k, in
//    that order; both are added, then added to the sum
//  - f32 scales: each of their blocks along K has a sum from +0, which is multiplied by the rounded
//    product of both scales; these terms are added in order of K
// The bits are the same for any number of threads and differ between sets. With u = 2^-24,
// S = sum |a_k b_k| (scales included), B blocks along K, and R = K, or 2 K if the left operand is
// f32, the error is at most
//   ((1 + u)^(R + B + 3) - 1) * S + 2^-125 * K * s,
// where s is the greatest product of scales that are not folded. A pair is rounded at most twice,
// and a product of two narrow values is exact. The second term bounds what AVX512_BF16 flushes.
//
// If A has up to 16 rows (AMX_BF16: 4), floats have another order, within the same bound. In each
// group of 32 along K, the products of even k have one sum and those of odd k another
// (AVX512_BF16: pairs with k modulo 4 below 2, and the other pairs). Both are added, multiplied by
// the group's scale, and added to the sum of C.
//
// Elements for which f32 cannot keep these bounds are formed in f64 and rounded once (D9), except
// if both sides are integers. Their error is 2^-24 of the product, or of its least unit.
#pragma once

#include "octavo/Kernels/Execution.h"
#include "octavo/Kernels/Product/Epilogue.h"
#include "octavo/Kernels/Product/PackedOperand.h"
#include "octavo/Kernels/Product/ProductPlan.h"
#include "octavo/Numerics/Scaled.h"

#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace octavo::kernels {

using numerics::ElementFormat;

/// A view of a scaled matrix [rows, K]: codes one per byte, scale codes in containers of
/// `scaleBytes`, both row-major, scales on the grid of blocks.
struct ScaledView {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t across; ///< block extent on the rows
  std::int64_t along;  ///< block extent on K
  const std::uint8_t* elements;
  const void* scales;
  int scaleBytes;
  float outer = 1.0f;
};
ScaledView viewOf(const numerics::ScaledTensor& matrix);

/// Packs a matrix [rows, K] of the plan's format for `side`. Here and below, the result reuses the
/// memory of `old`, an operand of the same shape: getting new pages from the system takes as long
/// as packing.
PackedOperand pack(const numerics::ScaledTensor& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution = {}, PackedOperand&& old = {});

PackedOperand pack(const ScaledView& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution = {}, PackedOperand&& old = {});

/// Quantizes f32 activations [rows, K] to the plan's left format and packs them. The error is the
/// first value that `options` refuses.
tl::expected<PackedOperand, numerics::NonFiniteInput>
quantizeAndPack(std::span<const float> activations, const ProductPlan& plan,
                const numerics::QuantizeOptions& options, const Execution& execution = {},
                PackedOperand&& old = {});

/// Packs f32 activations [rows, K], row-major, for a plan whose left format is floatOperand.
PackedOperand pack(std::span<const float> activations, const ProductPlan& plan,
                   const Execution& execution = {}, PackedOperand&& old = {});

/// The same without a copy of the rows. `activations` must outlive the operand.
PackedOperand packWhereTheyLie(std::span<const float> activations, const ProductPlan& plan,
                               const Execution& execution = {}, PackedOperand&& old = {});

/// Decodes a right operand once ahead of its products, if they use bf16 dot products; returns any
/// other operand unchanged. The operand then takes twice the memory. It saves decoding in each
/// product, a tenth of the time with some hundred rows. Products of few rows then have the order of
/// sums of products of many rows. With `spare`, the values take its memory, and `spare` receives
/// the memory of the codes.
PackedOperand decodedAhead(const ProductPlan& plan, PackedOperand&& right,
                           const Execution& execution = {}, PackedBytes* spare = nullptr);

/// Computes c[M, N] = left * right^T, row-major. The operands were packed for `plan`, and
/// execution.isa == plan.isa.
void multiply(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
              std::span<float> c, const Execution& execution = {});

/// Computes the products of a batch, output[b] = epilogue(left[b] * right[b]^T), each [M, N]. If
/// `right` has one operand, all products share it. All left operands have M rows, all right
/// operands N rows. `output` has room for [batch, M, N] of the epilogue's format.
void multiply(const ProductPlan& plan, std::span<const PackedOperand> left,
              std::span<const PackedOperand> right, void* output, const Epilogue& epilogue,
              const Execution& execution = {});

/// Runs only the epilogue, on the sums of `batch` products [M, N] in memory, and overwrites `sums`.
/// `output` is `sums` itself if the epilogue's format is f32.
void finish(std::span<float> sums, std::int64_t batch, std::int64_t rows, std::int64_t columns,
            void* output, const Epilogue& epilogue, const Execution& execution = {});

} // namespace octavo::kernels
