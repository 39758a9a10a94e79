#include "octavo/Transforms/Legalize/ScaleArithmetic.h"

#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Dialect/StableHLO/Contraction.h"
#include "octavo/Numerics/Scaled.h"
#include "octavo/Transforms/Legalize/RoundingArithmetic.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace octavo::transforms {

namespace {

using format::ElementFormat;
using format::ScaleRule;
using mlir::RankedTensorType;
using mlir::Value;
using Writer = ArithmeticWriter;
using Direction = stablehlo::ComparisonDirection;

const ElementFormat& kE8m0 = format::element("e8m0fnu");
constexpr float kLargest = std::numeric_limits<float>::max();

/// A tensor split into blocks: each axis becomes an axis of blocks and one of places in a block.
/// The last block of an axis may be short.
struct Blocks {
  explicit Blocks(ir::ScaledType type)
      : shape(type.getShape()), block(type.getBlock()), grid(type.getScaleShape()) {
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      whole.push_back(grid[axis] * block[axis]);
      split.append({grid[axis], block[axis]});
      outerAxes.push_back(static_cast<std::int64_t>(2 * axis));
      innerAxes.push_back(static_cast<std::int64_t>(2 * axis + 1));
    }
  }

  bool hasShortBlock() const { return llvm::ArrayRef(whole) != shape; }

  /// Broadcasts scales to the values of their blocks.
  Value spread(Writer& writer, Value scales) const {
    const Value values = writer.reshape(writer.broadcast(scales, outerAxes, split), whole);
    if (!hasShortBlock())
      return values;
    const llvm::SmallVector<std::int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
    mlir::OpBuilder& b = writer.builder;
    return stablehlo::SliceOp::create(b, writer.at, Writer::typeOf(values).clone(shape), values,
                                      b.getDenseI64ArrayAttr(zeros), b.getDenseI64ArrayAttr(shape),
                                      b.getDenseI64ArrayAttr(ones));
  }

  /// The largest magnitude of each block.
  Value largest(Writer& writer, Value magnitudes) const {
    if (hasShortBlock()) {
      const llvm::SmallVector<std::int64_t> zeros(shape.size(), 0);
      llvm::SmallVector<std::int64_t> high;
      for (const auto [all, some] : llvm::zip_equal(whole, shape))
        high.push_back(all - some);
      mlir::OpBuilder& b = writer.builder;
      const RankedTensorType type = Writer::typeOf(magnitudes);
      const Value zero = stablehlo::ConstantOp::create(
          b, writer.at,
          mlir::DenseElementsAttr::get(
              RankedTensorType::get({}, type.getElementType()),
              mlir::Attribute(b.getFloatAttr(type.getElementType(), 0.0))));
      magnitudes = stablehlo::PadOp::create(
          b, writer.at, type.clone(whole), magnitudes, zero, b.getDenseI64ArrayAttr(zeros),
          b.getDenseI64ArrayAttr(high), b.getDenseI64ArrayAttr(zeros));
    }
    return writer.largest(writer.reshape(magnitudes, split), innerAxes);
  }

  llvm::ArrayRef<std::int64_t> shape, block;
  llvm::SmallVector<std::int64_t> grid, whole, split, outerAxes, innerAxes;
};

/// 1 / 2^(field - 127) as two f32 factors that are normal for every field.
std::pair<Value, Value> inverseFactors(Writer& writer, Value field) {
  const mlir::Type f32 = writer.builder.getF32Type();
  const auto power = [&](Value exponentField) {
    return writer.bits(
        writer.write("shift_left", {exponentField, writer.integer(23, exponentField)}), f32);
  };
  const Value half = writer.write("shift_right_logical", {field, writer.integer(1, field)});
  const Value rest = writer.write("subtract", {field, half});
  // 2^(63 - half) * 2^(64 - rest)
  return {power(writer.write("subtract", {writer.integer(127 + 63, field), half})),
          power(writer.write("subtract", {writer.integer(127 + 64, field), rest}))};
}

/// Rounds quotients of values and scales to elements: saturating, ties to even.
Value asElements(Writer& writer, Value quotient, const ElementFormat& element) {
  const double max = numerics::maxValue(element);
  if (element.isInteger()) {
    const double unit = std::ldexp(1.0, element.bias);
    quotient = writer.write("round_nearest_even",
                            writer.write("multiply", {quotient, writer.number(unit, quotient)}));
    quotient = writer.write(
        "clamp",
        {writer.number(-max * unit, quotient), quotient, writer.number(max * unit, quotient)},
        quotient.getType());
    return writer.convert(quotient, writer.builder.getI8Type());
  }
  const Value clamped =
      writer.write("clamp", {writer.number(-max, quotient), quotient, writer.number(max, quotient)},
                   quotient.getType());
  return writer.convert(clamped, mlirType(writer.builder.getContext(), element));
}

/// A float as its exponent and 24-bit significand. The exponent of 0 is below all others, that of
/// Inf above.
struct Leading {
  Leading(Writer& writer, Value value) {
    const FloatParts parts = floatParts(writer, value);
    exponent = parts.exponent;
    significand = parts.significand;
  }
  Value exponent, significand;
};
constexpr std::int64_t kOne = std::int64_t{1} << 23; ///< 1.0 as Leading::significand

/// Writes scales, and the quotients of values by them.
class ScaleWriter {
public:
  ScaleWriter(Writer& writer, ir::ScaledType type, const numerics::QuantizeOptions& options,
              const Blocks& blocks)
      : writer(writer), kind(type.getKind()), options(options), blocks(blocks),
        corners(numerics::cornerCodes(*kind.scale, options)),
        max(static_cast<float>(numerics::maxValue(*kind.element))) {}

  /// Writes the scales of `x`, f32, and sets the members below.
  void write(Value x, const AmaxOfWhole& whole) {
    findFacts(x, whole);
    if (kind.hasOuterScale)
      writeOuter(whole);
    const Value found = hasInf ? select(hasInf, number(kLargest), amax) : amax;
    Value counts = options.amax && !kind.hasOuterScale ? number(*options.amax) : found;
    if (options.leastAmax > 0)
      counts = writer.write("maximum", {counts, number(options.leastAmax)});
    codes = ruleCodes(counts);
    if (hasInf && corners.infinite)
      give(hasInf, *corners.infinite, counts);
    if (hasNan && corners.nan && countsNan())
      give(hasNan, *corners.nan, counts);
    const auto nanCode = static_cast<std::int64_t>(*kind.scale->nanCode());
    if (poisoned)
      codes = select(poisoned, code(nanCode), codes);
    const bool mayBeNan =
        poisoned || llvm::is_contained({std::optional(corners.zero), corners.nan, corners.infinite,
                                        corners.pastRange, std::optional(corners.underflow)},
                                       std::optional(static_cast<std::uint32_t>(nanCode)));
    if (mayBeNan)
      isNan = writer.compare(Direction::EQ, codes, code(nanCode));
    scales = asFormat(writer, codes, *kind.scale);
    decisive = counts;
  }

  /// Values divided by their scales, in f32, if that is not exact.
  Value quotient(Value x) {
    const Value scale = writer.convert(scales, writer.builder.getF32Type());
    const auto over = [&](Value factor) {
      return inInput(writer.write("divide", {x, kept(blocks.spread(writer, factor))}));
    };
    const auto times = [&](Value factor) {
      return inInput(writer.write("multiply", {x, blocks.spread(writer, factor)}));
    };
    switch (options.quotient) {
    case numerics::QuotientForm::Divided:
      break;
    case numerics::QuotientForm::DividedByQuotient:
      return over(divided(scale, onGrid(inverse)));
    case numerics::QuotientForm::Successive: {
      const Value first = outer ? divided(x, writer.broadcast(outer, {}, blocks.shape)) : x;
      const Value second =
          inInput(writer.write("divide", {first, kept(blocks.spread(writer, scale))}));
      return select(writer.compare(Direction::EQ, first, writer.number(0, first)), first, second);
    }
    case numerics::QuotientForm::TimesInverse: {
      const Value product = writer.write("multiply", {scale, divided(number(1), onGrid(inverse))});
      return times(atMostLargest(divided(number(1), product)));
    }
    case numerics::QuotientForm::TimesQuotient:
      return times(divided(divided(number(1), onGrid(outer)), scale));
    case numerics::QuotientForm::TimesInverted:
      return times(select(isZero(decisive), divided(number(1), scale),
                          atMostLargest(divided(number(max), decisive))));
    }
    Value divisor = scale;
    if (outer)
      divisor = writer.write("multiply", {scale, onGrid(outer)});
    // A product below f32's range would be 0, and 0 / 0 is not a value of the tensor.
    divisor = select(writer.compare(Direction::EQ, divisor, number(0)),
                     number(numerics::minPositive(format::element("f32"))), divisor);
    return over(divisor);
  }

  Value codes;  ///< codes of the scales, i32
  Value scales; ///< scales in their format
  Value outer;  ///< scalar; null: no outer scale
  Value isNan;  ///< which scales are NaN; null: none can be

private:
  Value select(Value condition, Value then, Value otherwise) {
    return writer.write("select", {condition, then, otherwise});
  }
  Value number(double value) { return writer.number(value, amax); }
  Value code(std::int64_t value) {
    return writer.constantOf(value, writer.builder.getI32Type(), blocks.grid);
  }
  Value kept(Value value) { return writer.write("optimization_barrier", value); }
  /// A quotient that a barrier keeps from being merged with others.
  Value divided(Value dividend, Value divisor) {
    return kept(writer.write("divide", {dividend, kept(divisor)}));
  }
  Value atMostLargest(Value value) {
    return writer.write("minimum", {value, writer.number(kLargest, value)});
  }
  Value inType(bool isComputedInIt, Value value) {
    return isComputedInIt ? roundedTo(writer, value, *options.input) : value;
  }
  Value inInput(Value quotient) { return inType(options.inInputType.quotient, quotient); }
  Value ratioInType(Value ratio) { return inType(options.inInputType.ratio, ratio); }
  /// A scalar of the tensor for each block; 1 if null.
  Value onGrid(Value scalar) {
    return scalar ? writer.broadcast(scalar, {}, blocks.grid) : number(1);
  }
  bool countsNan() const { return options.nonFinite != numerics::NonFinite::SkipNan; }
  /// Tested on the bits, so that subnormals are not taken for 0.
  Value isZero(Value value) {
    const Value bits = writer.bits(value, writer.builder.getI32Type());
    return writer.compare(Direction::EQ, bits, writer.integer(0, bits));
  }
  Value asCode(Value condition) { return writer.convert(condition, writer.builder.getI32Type()); }

  void give(Value condition, std::uint32_t given, Value& counts) {
    codes = select(condition, code(given), codes);
    counts = select(condition, number(0), counts);
  }

  /// Computes BlockFacts, and whether they make the scale NaN.
  void findFacts(Value x, const AmaxOfWhole& whole) {
    Value magnitude = writer.write("abs", x);
    const bool isGiven = options.amax && !kind.hasOuterScale;
    if (options.nonFinite == numerics::NonFinite::Error) {
      amax = isGiven
                 ? writer.constant(*options.amax,
                                   RankedTensorType::get(blocks.grid, writer.builder.getF32Type()))
                 : blocks.largest(writer, magnitude);
      if (whole.ofBlocks && !isGiven)
        amax = whole.ofBlocks(amax);
      return;
    }
    const Value inf = writer.number(std::numeric_limits<float>::infinity(), x);
    const Value zero = writer.number(0, x);
    const auto any = [&](Value condition) {
      const Value some =
          blocks.largest(writer, writer.convert(condition, writer.builder.getF32Type()));
      return writer.compare(Direction::GT, some, writer.number(0, some));
    };
    const Value isFinite = writer.compare(Direction::LT, magnitude, inf);
    amax = blocks.largest(writer, select(isFinite, magnitude, zero));
    hasNan = any(writer.compare(Direction::NE, x, x));
    hasInf = any(writer.compare(Direction::EQ, magnitude, inf));
    if (countsNan() && !corners.nan)
      poisoned = hasNan;
    if (options.nonFinite == numerics::NonFinite::Propagate && !corners.infinite) {
      const Value alone = countsNan() && corners.nan
                              ? writer.write("and", {hasInf, writer.write("not", hasNan)})
                              : hasInf;
      poisoned = poisoned ? writer.write("or", {poisoned, alone}) : alone;
    }
  }

  /// Writes the outer scale (S6, S15).
  void writeOuter(const AmaxOfWhole& whole) {
    const auto product =
        static_cast<float>(numerics::maxValue(*kind.element) * numerics::maxValue(*kind.scale));
    const auto scalar = RankedTensorType::get({}, writer.builder.getF32Type());
    const auto one = [&] { return writer.constant(1, scalar); };
    if (options.outer == numerics::OuterForm::One) {
      outer = one();
      return;
    }
    Value all;
    if (options.amax) {
      all = writer.constant(*options.amax, scalar);
    } else {
      Value counts = hasInf ? select(hasInf, number(kLargest), amax) : amax;
      if (poisoned)
        counts = select(poisoned, number(0), counts);
      all = writer.largest(
          counts, llvm::to_vector(llvm::seq<std::int64_t>(0, Writer::typeOf(amax).getRank())));
      if (whole.ofTensor)
        all = whole.ofTensor(all);
    }
    const auto rounded = [&](Value value) { return inType(options.inInputType.outer, value); };
    const Value maximum = writer.constant(product, scalar);
    if (options.outer == numerics::OuterForm::Quotient) {
      const Value ratio = rounded(divided(all, maximum));
      outer = select(isZero(ratio), one(), ratio);
      return;
    }
    if (options.outer == numerics::OuterForm::Inverse) {
      inverse = select(isZero(all), one(), atMostLargest(rounded(divided(maximum, all))));
    } else {
      const Value reciprocal = rounded(divided(one(), all));
      inverse = rounded(writer.write("multiply", {reciprocal, maximum}));
      const Value inf = writer.constant(std::numeric_limits<float>::infinity(), scalar);
      inverse = select(writer.compare(Direction::EQ, inverse, inf), one(), inverse);
    }
    outer = divided(one(), inverse);
  }

  /// The codes by the scale rule, with S12's cases of zero, underflow and range.
  Value ruleCodes(Value counts) {
    Value result;
    if (*kind.scale == kE8m0 || options.scaleValues == numerics::ScaleValues::PowersOfTwo) {
      const Value exponent =
          writer.write("clamp", {code(kE8m0.emin()), scaleExponents(counts), code(kE8m0.emax())},
                       code(0).getType());
      result = writer.write("add", {exponent, code(kE8m0.bias)});
      if (*kind.scale != kE8m0) { // f32: 2^-127 is subnormal
        const Value normal = writer.write("shift_left", {result, code(23)});
        result = select(writer.compare(Direction::EQ, result, code(0)), code(kOne / 2), normal);
      }
      result = atLeast(result);
      if (pastRange && corners.pastRange)
        result = select(pastRange, code(*corners.pastRange), result);
    } else {
      const Value ratio =
          writer.write("minimum", {scaleRatio(counts), number(numerics::maxValue(*kind.scale))});
      const mlir::Type type = mlirType(writer.builder.getContext(), *kind.scale);
      const mlir::Type bits =
          writer.builder.getIntegerType(static_cast<unsigned>(kind.scale->width()), false);
      const Value nearest = writer.convert(ratio, type);
      Value rounded = writer.convert(writer.bits(nearest, bits), writer.builder.getI32Type());
      if (numerics::roundsScaleUp(*kind.scale, options)) // the next code is the next value
        rounded = writer.write(
            "add",
            {rounded,
             asCode(writer.compare(Direction::LT,
                                   writer.convert(nearest, writer.builder.getF32Type()), ratio))});
      result = select(writer.compare(Direction::EQ, rounded, code(0)), code(corners.underflow),
                      atLeast(rounded));
    }
    return select(isZero(counts), code(corners.zero), result);
  }

  Value atLeast(Value result) {
    return corners.least <= 1 && *kind.scale != kE8m0 ? result
           : corners.least == 0 ? result
                                : writer.write("maximum", {result, code(corners.least)});
  }

  /// The exponent of a power-of-two scale, before it is clamped (S3, S13, S14).
  Value scaleExponents(Value counts) {
    const ElementFormat& element = *kind.element;
    const auto plus = [&](Value exponent, Value condition) {
      return writer.write("add", {exponent, asCode(condition)});
    };
    const auto belowTop = [&](Value exponent) {
      return writer.write("subtract", {exponent, code(element.emax())});
    };
    const auto isFrom = [&](const Leading& value, std::int64_t least) {
      return writer.compare(Direction::GE, value.significand, code(least));
    };
    const bool isLog2 = options.exponent == numerics::ExponentForm::Log2;
    switch (options.rule) {
    case ScaleRule::Floor: {
      const Leading value(writer, counts);
      return belowTop(isLog2 ? plus(value.exponent, reachesNext(value, true)) : value.exponent);
    }
    case ScaleRule::Ceil: {
      const Leading value(writer, counts);
      return belowTop(
          plus(value.exponent, isLog2 ? reachesNext(value, false) : isFrom(value, kOne + 1)));
    }
    case ScaleRule::Even: {
      const Leading value(writer, counts);
      const int own = element.trailingSignificandBits - (element.isInteger() ? 1 : 0);
      const int kept = options.evenBits.value_or(static_cast<std::uint8_t>(own));
      const Value rounded = plus(value.exponent, isFrom(value, 2 * kOne - (kOne >> (kept + 1))));
      pastRange = writer.compare(Direction::GT, rounded, code(kE8m0.emax()));
      return belowTop(rounded);
    }
    case ScaleRule::RoundUp: {
      if (options.ratio == numerics::BlockRatio::Inverted) // 2^-e is max / amax rounded down
        return writer.write(
            "negate",
            Leading(writer, ratioInType(atMostLargest(divided(number(max), counts)))).exponent);
      const auto reciprocal = static_cast<float>(1.0 / numerics::maxValue(element));
      const Leading ratio(
          writer, ratioInType(options.ratio == numerics::BlockRatio::Quotient
                                  ? divided(counts, number(max))
                                  : writer.write("multiply", {counts, number(reciprocal)})));
      return plus(ratio.exponent, isLog2 ? reachesNext(ratio, false) : isFrom(ratio, kOne + 1));
    }
    case ScaleRule::Nearest:
      break;
    }
    const bool isQuotient = options.ratio == numerics::BlockRatio::Quotient;
    const Leading value(writer, isQuotient ? ratioInType(divided(counts, number(max))) : counts);
    const Value exponent = isQuotient ? value.exponent : belowTop(value.exponent);
    // 1.5 rounds up, and so does everything between the two smallest scales (N7).
    const Value isBetween = writer.compare(Direction::LT, exponent, code(kE8m0.emin() + 1));
    return plus(exponent,
                select(isBetween, isFrom(value, kOne + 1), isFrom(value, kOne + kOne / 2)));
  }

  /// Whether log2 of a value, rounded to f32 and to the input's type, lies beyond the value's
  /// exponent when then rounded down (or up). The significand from which it does depends only on
  /// the exponent.
  Value reachesNext(const Leading& value, bool isDown) {
    const auto reaches = [&](int exponent, std::int64_t significand) {
      const double x = std::ldexp(static_cast<double>(significand), exponent - 23);
      auto log2 = static_cast<float>(std::log2(x));
      if (options.inInputType.ratio)
        log2 = static_cast<float>(numerics::round(*options.input, log2));
      return (isDown ? std::floor(log2) : std::ceil(log2)) > static_cast<float>(exponent);
    };
    Value least;
    std::int64_t last = -1;
    for (int exponent = -149; exponent <= 127; ++exponent) {
      std::int64_t low = kOne, high = 2 * kOne; // bisect for the first that reaches
      while (low < high) {
        const std::int64_t middle = low + (high - low) / 2;
        if (reaches(exponent, middle))
          high = middle;
        else
          low = middle + 1;
      }
      if (low == last)
        continue;
      last = low;
      least = least ? select(writer.compare(Direction::GE, value.exponent, code(exponent)),
                             code(low), least)
                    : code(low);
    }
    return writer.compare(Direction::GE, value.significand, least);
  }

  /// The ratio of rule S14, for scales with a significand.
  Value scaleRatio(Value counts) {
    const auto reciprocal = 1.0F / max;
    switch (options.ratio) {
    case numerics::BlockRatio::Standard:
    case numerics::BlockRatio::Quotient:
      break;
    case numerics::BlockRatio::JointQuotient:
      return divided(counts, writer.write("multiply", {number(max), onGrid(outer)}));
    case numerics::BlockRatio::OuterFirst:
      return divided(divided(counts, onGrid(outer)), number(max));
    case numerics::BlockRatio::InverseLast:
      return writer.write("multiply", {ratioInType(divided(counts, number(max))), onGrid(inverse)});
    case numerics::BlockRatio::InverseFirst: {
      const Value factor = kept(writer.write("multiply", {onGrid(inverse), number(reciprocal)}));
      return atMostLargest(writer.write("multiply", {counts, factor}));
    }
    case numerics::BlockRatio::Inverted: {
      const Value inverted = ratioInType(atMostLargest(divided(number(max), counts)));
      return ratioInType(divided(number(1), inverted));
    }
    }
    const Value ratio = ratioInType(divided(counts, number(max)));
    return outer ? divided(ratio, onGrid(outer)) : ratio;
  }

  Writer& writer;
  const numerics::ScaledType kind;
  const numerics::QuantizeOptions& options;
  const Blocks& blocks;
  const numerics::CornerCodes corners;
  const float max;
  Value amax, hasNan, hasInf, poisoned; ///< of each block
  Value inverse;                        ///< g of OuterForm; null: 1
  Value decisive;                       ///< the amax that the scale is for; 0 if it was given
  Value pastRange;
};

/// Whether elements are computed by clamping and converting quotients.
bool areConverted(const ElementFormat& element, const numerics::QuantizeOptions& options) {
  const bool isAnyFinite = options.nonFinite == numerics::NonFinite::Error ||
                           (options.nonFinite == numerics::NonFinite::Propagate &&
                            !options.corners.nan && !options.corners.infinite);
  return isAnyFinite && options.rounding == numerics::Rounding::TiesToEven &&
         options.overflow == numerics::Overflow::Saturate &&
         options.zeroSign == numerics::ZeroSign::Kept &&
         options.int8 == numerics::Int8Range::Symmetric && !element.mlir.empty();
}

/// Gives quotients that are 0 in f32 the sign of `sign`.
void setZeroSign(Writer& writer, FloatParts& parts, numerics::ZeroSign sign) {
  if (sign != numerics::ZeroSign::Positive && sign != numerics::ZeroSign::Negative)
    return;
  const auto number = [&](std::int64_t value) { return writer.integer(value, parts.exponent); };
  // 2^-150 and less are 0 in f32.
  const Value isTie = writer.write(
      "and",
      {writer.compare(Direction::EQ, parts.exponent, number(-150)),
       writer.compare(Direction::EQ, parts.significand, number(std::int64_t{1} << parts.digits))});
  Value isZero = writer.write(
      "or",
      {writer.compare(Direction::EQ, parts.significand, number(0)),
       writer.write("or", {writer.compare(Direction::LT, parts.exponent, number(-150)), isTie})});
  isZero = writer.write(
      "and", {isZero, writer.write("not", writer.write("or", {parts.isNan, parts.isInf}))});
  parts.significand = writer.write("select", {isZero, number(0), parts.significand});
  parts.isNegative = sign == numerics::ZeroSign::Negative
                         ? writer.write("or", {parts.isNegative, isZero})
                         : writer.write("and", {parts.isNegative, writer.write("not", isZero)});
}

/// Elements by integer arithmetic, which supports every setting. `quotient` is f32; null if x is
/// divided by powers of two with the codes `powers`, which is exact.
Value roundedElements(Writer& writer, Value x, Value quotient, Value powers,
                      const ElementFormat& element, const numerics::QuantizeOptions& options,
                      Value random) {
  if (quotient) {
    const auto inf = writer.number(std::numeric_limits<float>::infinity(), x);
    const auto isInf = [&](Value value) {
      return writer.compare(Direction::EQ, writer.write("abs", value), inf);
    };
    const Value isInfinite = isInf(x);
    const Value isNan = writer.compare(Direction::NE, quotient, quotient); // Inf * 0, Inf / Inf
    // A NaN keeps the sign of the value; a division need not.
    const Value isOwn = writer.write(
        "or", {writer.write("and", {isInfinite, isNan}), writer.compare(Direction::NE, x, x)});
    quotient = writer.write("select", {isOwn, x, quotient});
    // An infinite quotient of a finite value overflows as finite ones do.
    const Value isBeyond = writer.write("and", {isInf(quotient), writer.write("not", isInfinite)});
    const Value largest = writer.number(kLargest, x);
    quotient = writer.write(
        "select",
        {isBeyond,
         writer.write("clamp", {writer.write("negate", largest), quotient, largest}, x.getType()),
         quotient});
  }
  FloatParts parts = floatParts(writer, quotient ? quotient : x);
  if (!quotient) {
    const Value field = writer.convert(powers, Writer::typeOf(parts.exponent).getElementType());
    parts.exponent = writer.write(
        "subtract",
        {parts.exponent, writer.write("subtract", {field, writer.integer(kE8m0.bias, field)})});
  }
  setZeroSign(writer, parts, options.zeroSign);
  // S8: the same code for either sign of NaN.
  parts.isNegative = writer.write("and", {parts.isNegative, writer.write("not", parts.isNan)});
  return roundedCodes(writer, parts, element,
                      {.rounding = options.rounding,
                       .overflow = options.overflow,
                       .infinite = numerics::Overflow::Saturate,
                       .nan = numerics::NanCode::Maximum,
                       .int8 = options.int8,
                       .isZeroPositive = options.zeroSign == numerics::ZeroSign::PositiveRounded},
                      random);
}

} // namespace

Value emitWiden(mlir::OpBuilder& builder, mlir::Location location, Value value) {
  return Writer(builder, location).convert(value, builder.getF32Type());
}

bool isOfAmaxAlone(ir::ScaledType type, ir::QuantizationAttr quantization, mlir::Type input) {
  const numerics::QuantizeOptions options = quantization.getOptions(type, *elementFormat(input));
  return options.nonFinite == numerics::NonFinite::Error &&
         options.rounding != numerics::Rounding::Stochastic;
}

ScaledParts emitQuantize(mlir::OpBuilder& builder, mlir::Location location, Value operand,
                         Value random, ir::ScaledType type, ir::QuantizationAttr quantization,
                         const AmaxOfWhole& whole) {
  Writer writer(builder, location);
  const ElementFormat& input = *elementFormat(Writer::typeOf(operand).getElementType());
  const numerics::QuantizeOptions options = quantization.getOptions(type, input);
  const ElementFormat& element = *type.getElement();
  const Blocks blocks(type);
  const Value x = writer.convert(operand, builder.getF32Type());
  ScaleWriter scales(writer, type, options, blocks);
  scales.write(x, whole);
  const bool isExact = numerics::quotientOf(type.getKind(), options) == numerics::Quotient::Exact;
  const Value isNan = scales.isNan ? blocks.spread(writer, scales.isNan) : Value();
  const auto zeroWhereNan = [&](Value values, Value zero) {
    return isNan ? writer.write("select", {isNan, zero, values}) : values;
  };
  Value elements;
  if (areConverted(element, options)) {
    Value quotient;
    if (isExact) {
      const auto [first, second] = inverseFactors(writer, scales.codes);
      quotient = writer.write("multiply", {x, blocks.spread(writer, first)});
      quotient = writer.write("multiply", {quotient, blocks.spread(writer, second)});
    } else {
      quotient = scales.quotient(x);
    }
    elements = asElements(writer, zeroWhereNan(quotient, writer.number(0, quotient)), element);
  } else {
    const Value codes = roundedElements(writer, x, isExact ? Value() : scales.quotient(x),
                                        isExact ? blocks.spread(writer, scales.codes) : Value(),
                                        element, options, random);
    elements = asFormat(writer, zeroWhereNan(codes, writer.integer(0, codes)), element);
  }
  return {elements, scales.scales, scales.outer};
}

Value emitDequantize(mlir::OpBuilder& builder, mlir::Location location, const ScaledParts& parts,
                     ir::ScaledType type) {
  Writer writer(builder, location);
  Value elements = valuesOf(writer, parts.elements, *type.getElement());
  // E8M0 under an outer scale may leave f32's range where the value does not: computed in f64 and
  // rounded once.
  const bool isWide = parts.outer && *type.getScale() == kE8m0;
  const mlir::Type wide = isWide ? mlir::Type(builder.getF64Type()) : builder.getF32Type();
  elements = writer.convert(elements, wide);
  if (type.getElement()->isInteger())
    elements = writer.write(
        "multiply", {elements, writer.number(std::ldexp(1.0, -type.getElement()->bias), elements)});
  const Blocks blocks(type);
  Value result = writer.write(
      "multiply", {elements, blocks.spread(writer, writer.convert(parts.scales, wide))});
  if (parts.outer)
    result = writer.write("multiply", {result, writer.broadcast(writer.convert(parts.outer, wide),
                                                                {}, type.getShape())});
  return writer.convert(result, builder.getF32Type());
}

Value emitDot(mlir::OpBuilder& builder, mlir::Location location, Value lhs, Value rhs,
              stablehlo::DotDimensionNumbersAttr dimensions, RankedTensorType result) {
  const Value dot = stablehlo::DotGeneralOp::create(
      builder, location, result.clone(builder.getF32Type()), lhs, rhs, dimensions,
      mlir::ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return Writer(builder, location).convert(dot, result.getElementType());
}

} // namespace octavo::transforms
