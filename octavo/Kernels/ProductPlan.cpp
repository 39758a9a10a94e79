#include "octavo/Kernels/Product.h"

#include <algorithm>
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

static bool isOneOf(const ElementFormat& format, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, format.name) != names.end();
}

static constexpr std::string_view kMultiplied = "multiplied are e2m1fn, e2m3fn, e3m2fn, int8, "
                                                "e4m3fn, e5m2, e4m3 and e3m4 under scales e8m0fnu, "
                                                "e4m3fn or f32, int8 with the first four";

static bool isPowerOfTwo(const OperandFormat& operand) { return operand.scale->name == "e8m0fnu"; }

/// The extent of an operand's blocks along K, at most K.
static std::int64_t extentAlong(const OperandFormat& operand, std::int64_t depth) {
  return operand.along == format::kWholeAxis ? depth : std::min(operand.along, depth);
}

static tl::expected<ProductPlan, std::string> floatPlan(ProductPlan plan) {
  plan.floats = true;
  plan.groups = (plan.depth + kGroup - 1) / kGroup;
  std::int64_t block = plan.depth;
  for (const OperandFormat* operand : {&plan.left, &plan.right}) {
    if (operand->element->name == "int8")
      return tl::unexpected(fmt::format("int8 with an 8-bit float: {}", kMultiplied));
    const std::int64_t along = extentAlong(*operand, plan.depth);
    if (along < plan.depth && along % kGroup != 0)
      return tl::unexpected(
          fmt::format("blocks of {} along an axis of {}: floats are multiplied in "
                      "blocks of multiples of {}, or of the whole axis",
                      along, plan.depth, kGroup));
    // An E4M3 scale has 4 significant bits, an element at most 4: bf16 holds their product.
    if (operand->scale->name == "e4m3fn" && operand->element->trailingSignificandBits > 3)
      return tl::unexpected(fmt::format("{} under e4m3fn has products that bf16 cannot hold",
                                        operand->element->name));
    if (operand->scale->name != "f32")
      continue;
    if (block < plan.depth && along < plan.depth && block != along)
      return tl::unexpected(fmt::format("f32 scales for blocks of {} and of {} along one axis: "
                                        "floats take one length, or the whole axis",
                                        block, along));
    block = std::min(block, along);
  }
  plan.groupsInBlock = (block + kGroup - 1) / kGroup;
  return plan;
}

tl::expected<ProductPlan, std::string>
productPlan(const OperandFormat& left, const OperandFormat& right, std::int64_t depth, Isa isa) {
  ProductPlan plan{};
  plan.isa = isa;
  plan.left = left;
  plan.right = right;
  plan.depth = depth;
  const bool digits = left.scale == nullptr;
  if (depth <= 0)
    return tl::unexpected(fmt::format("a product along an axis of {} elements", depth));
  for (const OperandFormat* operand : {&left, &right}) {
    if (operand->scale == nullptr && operand == &left && isOneOf(*left.element, {"f32"}))
      continue;
    if (!isOneOf(*operand->element,
                 {"e2m1fn", "e2m3fn", "e3m2fn", "int8", "e4m3fn", "e5m2", "e4m3", "e3m4"}) ||
        operand->scale == nullptr || !isOneOf(*operand->scale, {"e8m0fnu", "e4m3fn", "f32"}))
      return tl::unexpected(fmt::format("an operand of {} under {}: {}", operand->element->name,
                                        operand->scale ? operand->scale->name : "no scale",
                                        kMultiplied));
  }
  auto isWide = [](const OperandFormat& operand) {
    return isOneOf(*operand.element, {"e4m3fn", "e5m2", "e4m3", "e3m4"});
  };
  if (!digits && (isWide(left) || isWide(right)))
    return floatPlan(plan);
  if (digits && !isOneOf(*right.element, {"e2m1fn"}))
    return tl::unexpected(fmt::format("f32 activations against {}: only e2m1fn takes them; "
                                      "quantize the activations",
                                      right.element->name));

  // K is cut at the edges of both operands' blocks: at multiples of one number, or nowhere.
  const std::int64_t b = extentAlong(right, depth);
  const std::int64_t a = digits ? b : extentAlong(left, depth);
  const std::int64_t least = std::min(a, b), most = std::max(a, b);
  const bool whole = least == depth;
  if (!whole &&
      (least % 16 != 0 || (least > 16 && least % 32 != 0) || (most < depth && most % least != 0)))
    return tl::unexpected(fmt::format("blocks of {} and {} along an axis of {}: multiplied are "
                                      "blocks of 16, of multiples of 32 that divide one another, "
                                      "or of the whole axis",
                                      a, b, depth));
  plan.piece = least <= 16 ? 16 : 32;
  plan.pieces = (depth + 31) / 32 * (32 / plan.piece);
  plan.piecesInSum = whole ? (least + plan.piece - 1) / plan.piece : least / plan.piece;
  if (digits && (plan.piecesInSum > 1 || right.scale->width() != 8))
    return tl::unexpected(fmt::format("f32 activations against blocks of {} under {}: they take "
                                      "blocks of 16 or 32 under scales of 8 bits; quantize the "
                                      "activations",
                                      b, right.scale->name));

  const std::int32_t x = digits ? 128 : greatestInteger(*left.element);
  const std::int32_t y = greatestInteger(*right.element);
  if (plan.piecesInSum * plan.piece >
      std::numeric_limits<std::int32_t>::max() / (std::int64_t{x} * y))
    return tl::unexpected(
        fmt::format("blocks of {} of {} times {}: their sum is exact in 32 bits up to {} elements",
                    plan.piecesInSum * plan.piece, left.element->name, right.element->name,
                    std::numeric_limits<std::int32_t>::max() / (std::int64_t{x} * y)));
  plan.quantum = (digits ? 0 : left.element->quantumExponent()) + right.element->quantumExponent();

  // u8 times s8, two by two in the signed 16 bits of AVX2, for the steps of a piece or for two.
  const bool bytes = x <= 128 && y <= 128;
  const std::int32_t pair = 2 * 2 * y * x;
  if (!bytes || (isa == Isa::Avx2 && 2 * pair > 32767))
    plan.dot = Dot::Words;
  else
    plan.dot = isa != Isa::Avx2 || plan.piece / 4 * pair <= 32767 || digits ? Dot::Bytes
                                                                            : Dot::BytesInPairs;
  plan.offset = plan.dot == Dot::Words ? 0 : y;
  auto isFloat = [](const OperandFormat& operand) { return operand.scale->name == "f32"; };
  plan.scaleProductIsExact =
      digits || isPowerOfTwo(left) || isPowerOfTwo(right) || (!isFloat(left) && !isFloat(right));
  return plan;
}

} // namespace octavo::kernels
