#include "octavo/Transforms/Legalize/RoundingArithmetic.h"

#include "octavo/Dialect/ElementTypes.h"

#include <cassert>
#include <cmath>

namespace octavo::transforms {

using format::ElementFormat;
using format::Specials;
using mlir::Value;
using numerics::NanCode;
using numerics::Overflow;
using numerics::Rounding;
using Direction = stablehlo::ComparisonDirection;

namespace {

unsigned widthOf(Value value) { return ArithmeticWriter::typeOf(value).getElementTypeBitWidth(); }

Value select(ArithmeticWriter& writer, Value condition, Value then, Value otherwise) {
  return writer.write("select", {condition, then, otherwise});
}

/// Writes the rounding of one tensor.
class Rounder {
public:
  Rounder(ArithmeticWriter& writer, const FloatParts& parts, const ElementFormat& format,
          const CodeRules& rules, Value random)
      : writer(writer), parts(parts), format(format), rules(rules), random(random) {}

  Value codes() {
    // Exponents far beyond the largest value are all alike.
    const Value leading = writer.write("minimum", {parts.exponent, number(format.emax() + 2)});
    round(leading);
    Value code = withinLimits();
    if (format.specials == Specials::Scale)
      return select(writer, writer.write("or", {parts.isNegative, isZero(parts.significand)}),
                    number(static_cast<std::int64_t>(*format.nanCode())), code);
    if (format.isInteger())
      return select(writer, parts.isNegative, writer.write("negate", code), code);
    return withSign(code);
  }

private:
  Value number(std::int64_t value) { return writer.integer(value, parts.exponent); }
  Value isZero(Value value) { return writer.compare(Direction::EQ, value, number(0)); }
  Value asNumber(Value condition) {
    return writer.convert(condition, ArithmeticWriter::typeOf(parts.exponent).getElementType());
  }

  /// Sets `magnitude`: the code of the rounded magnitude, as if the exponent were unbounded. Codes
  /// of one sign are in the order of their values: the leading bit of a normal significand carries
  /// into the exponent field.
  void round(Value leading) {
    const int trailing = format.trailingSignificandBits;
    Value field, shift; // number of significand bits below the spacing
    if (format.isInteger()) {
      shift = writer.write("subtract", {number(parts.digits + format.quantumExponent()), leading});
    } else {
      const Value above = writer.write("subtract", {leading, number(format.emin())});
      const Value zero = number(0);
      field = writer.write("maximum", {above, zero});
      shift = writer.write(
          "subtract", {number(parts.digits - trailing), writer.write("minimum", {above, zero})});
    }
    const Value cut =
        writer.write("minimum", {shift, number(static_cast<std::int64_t>(widthOf(shift)) - 2)});
    const Value one = writer.write("shift_left", {number(1), cut});
    const Value rest =
        writer.write("and", {parts.significand, writer.write("subtract", {one, number(1)})});
    Value below = writer.write("shift_right_logical", {parts.significand, cut});
    if (field)
      below = writer.write("add", {below, writer.write("shift_left", {field, number(trailing)})});
    if (format.specials == Specials::Scale)
      below = writer.write("subtract", {below, number(1)});
    Value isAway = roundsAway(below, rest, one, shift);
    if (format.specials == Specials::Scale) {
      // Between the two smallest scales, and below the smallest, everything rounds up (N7).
      if (rules.rounding == Rounding::TiesToEven) {
        const Value isPower = writer.compare(Direction::EQ, parts.significand,
                                             number(std::int64_t{1} << parts.digits));
        isAway = select(writer, writer.compare(Direction::LT, leading, number(format.emin() + 1)),
                        writer.write("not", isPower), isAway);
      }
      const Value isBelow = writer.compare(Direction::LT, leading, number(format.emin()));
      magnitude =
          select(writer, isBelow, number(0), writer.write("add", {below, asNumber(isAway)}));
      return;
    }
    magnitude = writer.write("add", {below, asNumber(isAway)});
  }

  /// Rules N4 and N5: whether a magnitude that is `rest` / `one` of a step above `below` rounds to
  /// the next code.
  Value roundsAway(Value below, Value rest, Value one, Value shift) {
    const Value twice = writer.write("shift_left", {rest, number(1)});
    const auto isRest = [&] { return writer.compare(Direction::NE, rest, number(0)); };
    switch (rules.rounding) {
    case Rounding::TiesToEven: {
      if (format.specials == Specials::Scale) // a tie rounds up
        return writer.compare(Direction::GE, twice, one);
      const Value isOdd =
          writer.compare(Direction::NE, writer.write("and", {below, number(1)}), number(0));
      const Value isTie = writer.compare(Direction::EQ, twice, one);
      return writer.write(
          "or", {writer.compare(Direction::GT, twice, one), writer.write("and", {isTie, isOdd})});
    }
    case Rounding::TiesToAway:
      return writer.compare(Direction::GE, twice, one);
    case Rounding::TiesTowardZero:
      return writer.compare(Direction::GT, twice, one);
    case Rounding::TowardZero:
      return writer.compare(Direction::NE, rest, rest);
    case Rounding::TowardPositive:
      return writer.write("and", {isRest(), writer.write("not", parts.isNegative)});
    case Rounding::TowardNegative:
      return writer.write("and", {isRest(), parts.isNegative});
    case Rounding::Stochastic:
      break;
    }
    // Random r rounds up if r < 2^32 rest / 2^shift, that is below its ceiling. In unsigned
    // integers, a rest below 2^24 plus a unit of 2^31 fits in 32 bits, one below 2^53 plus 2^62 in
    // 64.
    const mlir::Type bits = writer.builder.getIntegerType(widthOf(shift), /*isSigned=*/false);
    const auto atLeastZero = [&](Value value) {
      const Value most = number(widthOf(shift) == 32 ? 31 : 62);
      return writer.convert(writer.write("clamp", {number(0), value, most}, shift.getType()), bits);
    };
    const Value narrower = atLeastZero(writer.write("subtract", {number(32), shift}));
    const Value wider = atLeastZero(writer.write("subtract", {shift, number(32)}));
    const Value single = writer.integer(1, wider);
    const Value unit = writer.write("shift_left", {single, wider});
    const Value scaled = writer.write("shift_left", {writer.convert(rest, bits), narrower});
    const Value up = writer.write("add", {scaled, writer.write("subtract", {unit, single})});
    const Value limit = writer.write("shift_right_logical", {up, wider});
    return writer.compare(Direction::LT, writer.convert(random, bits), limit);
  }

  /// The code of the largest magnitude with the value's sign.
  Value limit() {
    const Value largest = number(static_cast<std::int64_t>(format.maxCode()));
    if (!format.isInteger() || rules.int8 == numerics::Int8Range::Symmetric)
      return largest;
    return select(writer, parts.isNegative, number(static_cast<std::int64_t>(*format.lowestCode())),
                  largest);
  }

  Value beyond(Overflow overflow) {
    if (overflow == Overflow::Special && format.hasInf())
      return number(static_cast<std::int64_t>(*format.infCode()));
    if (overflow == Overflow::Special && format.hasNan())
      return number(static_cast<std::int64_t>(*format.nanCode()));
    return limit();
  }

  /// Applies rules N3 and N6.
  Value withinLimits() {
    Value over = beyond(rules.overflow);
    if (rules.rounding == Rounding::TowardZero)
      over = limit();
    else if (rules.rounding == Rounding::TowardPositive)
      over = select(writer, parts.isNegative, limit(), over);
    else if (rules.rounding == Rounding::TowardNegative)
      over = select(writer, parts.isNegative, over, limit());
    Value code = select(writer, writer.compare(Direction::GT, magnitude, limit()), over, magnitude);
    code = select(writer, parts.isInf, beyond(rules.infinite), code);
    if (format.hasNan())
      return select(writer, parts.isNan, number(static_cast<std::int64_t>(*format.nanCode())),
                    code);
    if (format.isInteger() || rules.nan == NanCode::Maximum)
      return select(writer, parts.isNan, limit(), code);
    return select(writer, parts.isNan, number(0), code);
  }

  Value withSign(Value code) {
    const Value sign = number(static_cast<std::int64_t>(format.signMask()));
    Value isNegative = parts.isNegative;
    // N3: -0 for a positive NaN, +0 for a negative one.
    if (!format.hasNan() && rules.nan == NanCode::NegativeZero)
      isNegative = writer.write("xor", {isNegative, parts.isNan});
    if (!format.hasNegativeZero() || rules.isZeroPositive)
      isNegative = writer.write("and", {isNegative, writer.write("not", isZero(code))});
    return select(writer, isNegative, writer.write("or", {code, sign}), code);
  }

  ArithmeticWriter& writer;
  const FloatParts& parts;
  const ElementFormat& format;
  const CodeRules& rules;
  const Value random;
  Value magnitude;
};

} // namespace

FloatParts floatParts(ArithmeticWriter& writer, Value value) {
  const ElementFormat& format = *elementFormat(ArithmeticWriter::typeOf(value).getElementType());
  const int width = format.width(), digits = format.trailingSignificandBits;
  const Value bits =
      writer.bits(value, writer.builder.getIntegerType(static_cast<unsigned>(width)));
  const auto number = [&](std::int64_t constant) { return writer.integer(constant, bits); };
  const auto inf = static_cast<std::int64_t>(*format.infCode());
  const std::int64_t mask = (std::int64_t{1} << digits) - 1;
  const Value magnitude =
      writer.write("and", {bits, number(static_cast<std::int64_t>(format.signMask() - 1))});
  const Value field = writer.write("shift_right_logical", {magnitude, number(digits)});
  const Value trailing = writer.write("and", {magnitude, number(mask)});
  const Value isSubnormal = writer.compare(Direction::EQ, field, number(0));
  const Value up =
      writer.write("subtract", {writer.write("count_leading_zeros", trailing),
                                number(static_cast<std::int64_t>(widthOf(bits)) - 1 - digits)});
  FloatParts parts;
  parts.digits = digits;
  parts.significand = select(writer, isSubnormal, writer.write("shift_left", {trailing, up}),
                             writer.write("or", {trailing, number(mask + 1)}));
  parts.exponent =
      select(writer, isSubnormal, writer.write("subtract", {number(format.emin()), up}),
             writer.write("subtract", {field, number(format.bias)}));
  parts.isNegative = writer.compare(
      Direction::NE,
      writer.write("and", {bits, number(static_cast<std::int64_t>(format.signMask()))}), number(0));
  parts.isNan = writer.compare(Direction::GT, magnitude, number(inf));
  parts.isInf = writer.compare(Direction::EQ, magnitude, number(inf));
  return parts;
}

Value roundedCodes(ArithmeticWriter& writer, const FloatParts& parts, const ElementFormat& format,
                   const CodeRules& rules, Value random) {
  return Rounder(writer, parts, format, rules, random).codes();
}

/// The f32 values of codes, in any integer type, of a format without special values.
static Value valuesOfFiniteCodes(ArithmeticWriter& writer, Value codes,
                                 const ElementFormat& format) {
  assert(format.specials == Specials::None);
  mlir::OpBuilder& b = writer.builder;
  const ElementFormat& f32 = format::element("f32");
  const Value code = writer.convert(codes, b.getI32Type());
  const auto number = [&](std::int64_t constant) { return writer.integer(constant, code); };
  const int digits = format.trailingSignificandBits;
  const auto sign = static_cast<std::int64_t>(format.signMask());
  const Value magnitude = writer.write("and", {code, number(sign - 1)});
  const Value normal = writer.write(
      "add", {writer.write("shift_left", {magnitude, number(f32.trailingSignificandBits - digits)}),
              number(std::int64_t{f32.bias - format.bias} << f32.trailingSignificandBits)});
  const Value units = writer.convert(magnitude, b.getF32Type());
  const Value subnormal = writer.bits(
      writer.write("multiply",
                   {units, writer.number(std::ldexp(1.0, format.quantumExponent()), units)}),
      b.getI32Type());
  const Value isSubnormal =
      writer.compare(Direction::LT, magnitude, number(std::int64_t{1} << digits));
  const Value isNegative = writer.write(
      "shift_left", {writer.write("and", {code, number(sign)}), number(32 - format.width())});
  return writer.bits(
      writer.write("or", {select(writer, isSubnormal, subnormal, normal), isNegative}),
      b.getF32Type());
}

Value asFormat(ArithmeticWriter& writer, Value codes, const ElementFormat& format) {
  mlir::OpBuilder& b = writer.builder;
  const mlir::Type type = codesType(b.getContext(), format);
  if (type.isInteger())
    return writer.convert(codes, type);
  if (format.width() < 8) // an integer of that width is no type of StableHLO, or packed
    return writer.convert(valuesOfFiniteCodes(writer, codes, format), type);
  return writer.bits(writer.convert(codes, b.getIntegerType(static_cast<unsigned>(format.width()),
                                                            /*isSigned=*/false)),
                     type);
}

Value valuesOf(ArithmeticWriter& writer, Value codes, const ElementFormat& format) {
  const mlir::Type type = ArithmeticWriter::typeOf(codes).getElementType();
  if (type.isInteger() && !format.isInteger())
    return valuesOfFiniteCodes(writer, codes, format);
  return writer.convert(codes, writer.builder.getF32Type());
}

Value roundedTo(ArithmeticWriter& writer, Value value, const ElementFormat& format) {
  if (format == format::element("f32"))
    return value;
  // Without the barrier XLA keeps excess precision.
  return writer.convert(
      writer.write("optimization_barrier",
                   writer.convert(value, mlirType(writer.builder.getContext(), format))),
      writer.builder.getF32Type());
}

} // namespace octavo::transforms
