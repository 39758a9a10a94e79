// Products of scaled matrices, C[M, N] = A[M, K] * B[N, K]^T, both operands contracted along their
// last axis and packed beforehand; then an epilogue (Epilogue.h, docs/semantics.md P). Operands are
// the narrow formats that have a zero, under scales e8m0fnu, e4m3fn (with an outer f32 scale) or
// f32; on the left also f32 as it is. Every pair of rows of the format table has a plan. Where
// there is none, productPlan says why: blocks that do not divide one another, sums beyond 32 bits.
//
// Integers (E2M1, E2M3, E3M2, INT8 on both sides): each element of C has the bits of numerics::dot
// of the two rows, on every instruction set and with every number of threads. A piece of K (between
// two block edges of either operand) is summed exactly, scaled and rounded to f32 once; pieces are
// added in f32 in order of K from +0; the outer scales multiply last.
//
// Few rows of f32 activations against those (on AVX2 up to 4 where the first of the two below
// holds, else up to 2; on other sets up to 16): a row's block of 16 or 32 becomes integers of 23
// bits and a power of two, x = n * 2^e, |n| <= 2^22, n = x * 2^-e rounded to nearest, even on ties,
// where 2^(e+21) <= amax < 2^(e+22) (e >= -80). n is 2^16 a + 2^8 b + c with a, b, c from -128 to
// 127.
//  - E2M1 in blocks of 16 or 32 under 8-bit scales: the block's integer sum is exact; it is rounded
//    to f32, multiplied by the scales' product and rounded, and added as above. Against the exact
//    product the error is at most, to first order,
//      sum over blocks of (amax * 2^-22 * sum |w| + 2^-23 * |term|) + (blocks - 1) * 2^-24 * sum
//      |terms|,
//    amax of the block of x, w the values of the weights.
//  - all others: the digits a, b, c are three rows of integers, each multiplied as above; their
//  sums
//    A, B, C are added as (A + B) + C, then the outer scale multiplies. The error is at most
//      (2^-22 + (blocks + 4) * 2^-24 * 1.02) * sum over blocks of amax * sum |w|.
//
// More rows of f32 activations, against those and, from 17 on, against floats whose f32 scales do
// not cut K: the right operand's values in f32, element * scale rounded once (of floats under f32
// scales the scale multiplies the sum), are multiplied as plain matrices are (PlainProduct.h, with
// its bound), then the outer scale multiplies.
//
// Floats (all other pairs, f32 activations against 8-bit floats among them): scales that are powers
// of two are folded into the elements, exactly; so are E4M3's. One f32 sum for each element of C
// runs over K: f32 multiply-adds, or with AVX512_BF16 dot products of pairs, in the order that
// ProductKernels.h states for a group of 32, groups in order; with AMX_BF16 a group's products of
// even k in that order, and of odd k, from +0 each, then both added, then the sum. f32 scales: each
// of their blocks along K has a sum from +0, which is multiplied by the rounded product of both
// scales, and such terms are added in order of K. For every number of threads the same bits;
// between sets they differ. With u = 2^-24, S = sum |a_k b_k| (scales included), B blocks along K,
// and R = K, or 2 K where the left operand is f32, the error is at most
//   ((1 + u)^(R + B + 3) - 1) * S + 2^-125 * K * s,
// s the greatest product of scales not folded: a pair is rounded at most twice, and a product of
// two narrow values not at all. The second term is what AVX512_BF16 flushes.
//
// With up to 16 rows in A (AMX_BF16: 4) the order is another, within the same bound: in each
// group of 32 along K the products of even k have a sum and those of odd k (AVX512_BF16: of k
// modulo 4 below 2, and of the others, in pairs); their sum, times the group's scale, is added to
// the sum of C.
//
// Elements of C that f32 does not give so, but for those of two integer sides, are formed in f64
// and rounded once: D9. Their error is 2^-24 of the product, or of its least unit.
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

/// A scaled matrix [rows, K] where it lies: codes one a byte, scale codes in containers of
/// `scaleBytes`, row-major on the grid of blocks.
struct ScaledView {
  const ElementFormat* element;
  const ElementFormat* scale;
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t across; ///< rows of a block
  std::int64_t along;  ///< of K in a block
  const std::uint8_t* elements;
  const void* scales;
  int scaleBytes;
  float outer = 1.0f;
};
ScaledView viewOf(const numerics::ScaledTensor& matrix);

/// Packs a matrix [rows, K] of the plan's format for `side`. Here and below, the memory of `old`,
/// an operand of the same shape that is no longer needed, is used again: the system takes as long
/// to give new pages as packing takes.
PackedOperand pack(const numerics::ScaledTensor& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution = {}, PackedOperand&& old = {});

PackedOperand pack(const ScaledView& matrix, Side side, const ProductPlan& plan,
                   const Execution& execution = {}, PackedOperand&& old = {});

/// Quantizes f32 activations [rows, K] to the plan's left format and packs them; or the first value
/// that `options` refuses.
tl::expected<PackedOperand, numerics::NonFiniteInput>
quantizeAndPack(std::span<const float> activations, const ProductPlan& plan,
                const numerics::QuantizeOptions& options, const Execution& execution = {},
                PackedOperand&& old = {});

/// Packs f32 activations [rows, K], row-major, for a plan whose left format is floatOperand.
PackedOperand pack(std::span<const float> activations, const ProductPlan& plan,
                   const Execution& execution = {}, PackedOperand&& old = {});

/// The same, without a copy of the rows: `activations` are there as long as the operand.
PackedOperand packWhereTheyLie(std::span<const float> activations, const ProductPlan& plan,
                               const Execution& execution = {}, PackedOperand&& old = {});

/// A right operand decoded ahead of its products, where these are dot products of bf16: twice the
/// memory, and what a product of some hundred rows takes to decode it, a tenth of its time, only
/// once. Any other operand as it is. Products of few rows are then summed as those of more are.
/// With `spare`, the values take its memory, and it is given that of the codes.
PackedOperand decodedAhead(const ProductPlan& plan, PackedOperand&& right,
                           const Execution& execution = {}, PackedBytes* spare = nullptr);

/// c[M, N] = left * right^T, row-major. The operands were packed for `plan`, and
/// execution.isa == plan.isa.
void multiply(const ProductPlan& plan, const PackedOperand& left, const PackedOperand& right,
              std::span<float> c, const Execution& execution = {});

/// The products of a batch, output[b] = epilogue(left[b] * right[b]^T), each [M, N]; one right
/// operand is shared by all. All left operands have M rows, all right ones N. `output` has room for
/// [batch, M, N] of the epilogue's format.
void multiply(const ProductPlan& plan, std::span<const PackedOperand> left,
              std::span<const PackedOperand> right, void* output, const Epilogue& epilogue,
              const Execution& execution = {});

/// The epilogue alone, of `batch` products [M, N] whose sums lie in memory: `sums`, which it writes
/// over. `output` is `sums` itself where the epilogue's format is f32.
void finish(std::span<float> sums, std::int64_t batch, std::int64_t rows, std::int64_t columns,
            void* output, const Epilogue& epilogue, const Execution& execution = {});

} // namespace octavo::kernels
