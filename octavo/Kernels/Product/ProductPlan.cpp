#include "octavo/Kernels/Product/ProductPlan.h"

#include "octavo/Kernels/Bf16Dots.h"
#include "octavo/Kernels/Product/ProductKernels.h"
#include "octavo/Numerics/Conversion.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <limits>

namespace octavo::kernels {

OperandFormat operandFormat(const format::ScaledFormat& format) {
  return {format.element, format.scale, format.across, format.along};
}

OperandFormat floatOperand() { return {&format::element("f32"), nullptr}; }

/// The greatest magnitude of a format's integers (values over its quantum).
static std::int32_t greatestInteger(const ElementFormat& format) {
  const std::uint64_t code = format.lowestCode() ? *format.lowestCode() : format.maxCode();
  return static_cast<std::int32_t>(
      std::fabs(std::ldexp(numerics::decode(format, code), -format.quantumExponent())));
}

/// Whether products of the elements are summed in integers: every code is a small multiple of the
/// quantum. The 8-bit floats without NaN and Inf have too many quanta.
static bool isExactInteger(const ElementFormat& format) {
  return format.isNarrow() &&
         (format.isInteger() || (format.specials == format::Specials::None &&
                                 format.emax() - format.quantumExponent() < 15));
}

static bool isMultiplied(const OperandFormat& operand) {
  const std::string_view scales[] = {"e8m0fnu", "e4m3fn", "f32"};
  return operand.element->isNarrow() && operand.element->hasZero() && operand.scale != nullptr &&
         std::ranges::find(scales, operand.scale->name) != std::end(scales);
}

static constexpr std::string_view kMultiplied =
    "products take narrow formats that have a zero, under scales e8m0fnu, e4m3fn or f32, and "
    "f32 activations";

static bool isPowerOfTwo(const OperandFormat& operand) { return operand.scale->name == "e8m0fnu"; }

/// The extent of an operand's blocks along K, at most K.
static std::int64_t extentAlong(const OperandFormat& operand, std::int64_t depth) {
  return operand.along == format::kWholeAxis ? depth : std::min(operand.along, depth);
}

/// Whether an operand of floats is packed as f32, because kernels do not decode its codes or the
/// blocks of its scales. bf16 dot products do not support such operands.
static bool isPackedAsValues(const OperandFormat& operand, std::int64_t depth) {
  const ElementFormat& element = *operand.element;
  if (operand.scale == nullptr || element.isInteger() || !element.hasNegativeZero())
    return true;
  // F16C reads only the greatest of five exponent bits as Inf and NaN, which fits E5M2 alone.
  if (element.hasInf() ? element.bias != 15 : element.exponentBits >= 5)
    return true;
  const std::int64_t along = extentAlong(operand, depth);
  return operand.scale->name != "f32" && along < depth && along % kGroup != 0;
}

static tl::expected<ProductPlan, std::string> floatPlan(ProductPlan plan) {
  plan.floats = true;
  plan.mostFewRows = kMostDirectRows;
  plan.groups = (plan.depth + kGroup - 1) / kGroup;
  std::int64_t block = plan.depth;
  for (const OperandFormat* operand : {&plan.left, &plan.right}) {
    if (operand->scale == nullptr || operand->scale->name != "f32")
      continue;
    const std::int64_t along = extentAlong(*operand, plan.depth);
    if (along < plan.depth && along % kGroup != 0)
      return tl::unexpected(
          fmt::format("f32 scales for blocks of {} along an axis of {}: floats take multiples of "
                      "{}, or the whole axis",
                      along, plan.depth, kGroup));
    if (block < plan.depth && along < plan.depth && block != along)
      return tl::unexpected(fmt::format("f32 scales for blocks of {} and of {} along one axis: "
                                        "floats take one length, or the whole axis",
                                        block, along));
    block = std::min(block, along);
  }
  plan.groupsInBlock = (block + kGroup - 1) / kGroup;
  plan.leftAsValues = isPackedAsValues(plan.left, plan.depth);
  plan.rightAsValues = isPackedAsValues(plan.right, plan.depth);
  // An E4M3 scale has 4 significant bits, an element mostly 4: bf16 holds their product.
  auto fitsBf16 = [](const OperandFormat& operand) {
    return operand.scale->name != "e4m3fn" || operand.element->trailingSignificandBits <= 3;
  };
  plan.floatDot = usesBf16(plan.isa) && !plan.leftAsValues && !plan.rightAsValues &&
                          fitsBf16(plan.left) && fitsBf16(plan.right)
                      ? FloatDot::Bf16Pairs
                      : FloatDot::MultiplyAdds;
  return plan;
}

/// Whether f32 activations are multiplied by E2M1 in 4-bit storage, three digits at once.
static bool takesDigits(const OperandFormat& right, std::int64_t depth) {
  const std::int64_t along = extentAlong(right, depth);
  return right.element->name == "e2m1fn" &&
         (along <= 16 ? right.scale->width() == 8 : along <= 32 && isPowerOfTwo(right));
}

/// The most f32 rows for which multiplying digits is as fast as expanding panels; measured on AVX2
/// only (docs/benchmarks.md).
static std::int64_t mostDigitRows(Isa isa, bool digits) {
  if (isa != Isa::Avx2)
    return kMostDirectRows;
  return digits ? 4 : 2;
}

tl::expected<ProductPlan, std::string>
productPlan(const OperandFormat& left, const OperandFormat& right, std::int64_t depth, Isa isa) {
  ProductPlan plan{};
  plan.isa = isa;
  plan.left = left;
  plan.right = right;
  plan.depth = depth;
  if (depth <= 0)
    return tl::unexpected(fmt::format("a product along an axis of {} elements", depth));
  const bool isFloat = left.scale == nullptr && left.element->name == "f32";
  for (const OperandFormat* operand : {&left, &right})
    if (!isMultiplied(*operand) && !(isFloat && operand == &left))
      return tl::unexpected(fmt::format("an operand of {} under {}: {}", operand->element->name,
                                        operand->scale ? operand->scale->name : "no scale",
                                        kMultiplied));
  if (!isExactInteger(*right.element) || (!isFloat && !isExactInteger(*left.element)))
    return floatPlan(plan);
  const bool digits = isFloat && takesDigits(right, depth);
  plan.digitRows = isFloat && !digits;
  plan.mostFewRows = isFloat ? mostDigitRows(isa, digits) : 0;

  // K is cut at the edges of both operands' blocks: at multiples of one extent, or not at all.
  const std::int64_t b = extentAlong(right, depth);
  const std::int64_t a = digits           ? b
                         : plan.digitRows ? std::min(depth, std::int64_t{b % 32 == 16 ? 16 : 32})
                                          : extentAlong(left, depth);
  const std::int64_t least = std::min(a, b), most = std::max(a, b);
  const bool whole = least == depth;
  if (!whole &&
      (least % 16 != 0 || (least > 16 && least % 32 != 0) || (most < depth && most % least != 0)))
    return tl::unexpected(
        fmt::format("blocks of {} and {} along an axis of {}: products take blocks of 16, of "
                    "multiples of 32 that divide one another, or of the whole axis",
                    a, b, depth));
  plan.piece = least <= 16 ? 16 : 32;
  plan.pieces = (depth + 31) / 32 * (32 / plan.piece);
  plan.piecesInSum = whole ? (least + plan.piece - 1) / plan.piece : least / plan.piece;
  const std::int32_t x = isFloat ? 128 : greatestInteger(*left.element);
  const std::int32_t y = greatestInteger(*right.element);
  if (plan.piecesInSum * plan.piece >
      std::numeric_limits<std::int32_t>::max() / (std::int64_t{x} * y))
    return tl::unexpected(
        fmt::format("blocks of {} of {} times {}: their sum is exact in 32 bits up to {} elements",
                    plan.piecesInSum * plan.piece, left.element->name, right.element->name,
                    std::numeric_limits<std::int32_t>::max() / (std::int64_t{x} * y)));
  plan.quantum = (isFloat ? 0 : left.element->quantumExponent()) + right.element->quantumExponent();

  // u8 times s8, two by two in the signed 16 bits of AVX2, for the steps of a piece or for two.
  const bool bytes = x <= 128 && y <= 128;
  const std::int32_t pair = 2 * 2 * y * x;
  if (!bytes || (isa == Isa::Avx2 && 2 * pair > 32767))
    plan.dot = Dot::Words;
  else if (isa != Isa::Avx2 || plan.piece / 4 * pair <= 32767 || digits)
    plan.dot = Dot::Bytes;
  else
    plan.dot = plan.piece / 2 * y * x <= 32767 ? Dot::BytesWrapped : Dot::BytesInPairs;
  plan.offset = plan.dot == Dot::Words ? 0 : y;
  auto isWide = [](const OperandFormat& operand) { return operand.scale->name == "f32"; };
  plan.scaleProductIsExact =
      isFloat || isPowerOfTwo(left) || isPowerOfTwo(right) || (!isWide(left) && !isWide(right));
  // The number of significand bits that a factor adds to a product.
  auto significantBits = [](const OperandFormat& operand) {
    const int trailing = operand.scale == nullptr ? 0 : operand.scale->trailingSignificandBits;
    return trailing == 0 ? 0 : trailing + 1;
  };
  const auto sumBits = std::bit_width(static_cast<std::uint32_t>(plan.piece * x * y));
  plan.termIsExact = sumBits + significantBits(left) + significantBits(right) <= 24;
  return plan;
}

} // namespace octavo::kernels
