// Exact functions: squares, conjugates, products of integers, neighbours of floats.
#include "octavo/Dialect/ElementTypes.h"
#include "octavo/Transforms/Legalize/CHLO/Functions.h"

#include <cmath>
#include <limits>

namespace octavo::transforms {

/// The real part is 0 if the parts are equal in magnitude, even if their sum overflows.
Term complexSquare(Term z) {
  const Term re = real(z), im = imaginary(z), product = re * im;
  const Term isDiagonal =
      (abs(re) == abs(im)) & (abs(re) < std::numeric_limits<double>::infinity());
  return complex(select(isDiagonal, 0.0, (re - im) * (re + im)), product + product);
}

Term conjugate(Term z) { return complex(real(z), -imaginary(z)); }

namespace {

/// mulhi of unsigned 64-bit integers, by halves: the products of halves, and their sums, are below
/// 2^64.
Term mulhiOfHalves(Term x, Term y) {
  const double mask = 0xFFFFFFFFp0;
  const Term xLow = x & x.number(mask), yLow = y & y.number(mask);
  const Term xHigh = shiftRightLogical(x, 32.0), yHigh = shiftRightLogical(y, 32.0);
  const Term first = xHigh * yLow + shiftRightLogical(xLow * yLow, 32.0);
  const Term second = xLow * yHigh + (first & x.number(mask));
  return xHigh * yHigh + shiftRightLogical(first, 32.0) + shiftRightLogical(second, 32.0);
}

} // namespace

Term mulhi(Term x, Term y) {
  const mlir::Type element = x.element();
  const unsigned width = element.getIntOrFloatBitWidth();
  const bool isUnsigned = element.isUnsignedInteger();
  mlir::MLIRContext* context = element.getContext();
  if (width < 64) {
    const auto wide = mlir::IntegerType::get(
        context, 2 * width, isUnsigned ? mlir::IntegerType::Unsigned : mlir::IntegerType::Signless);
    const Term product = convert(x, wide) * convert(y, wide);
    return convert(isUnsigned ? shiftRightLogical(product, width)
                              : shiftRightArithmetic(product, width),
                   element);
  }
  if (isUnsigned)
    return mulhiOfHalves(x, y);
  // A negative number is its bits minus 2^64.
  const auto bits = mlir::IntegerType::get(context, 64, mlir::IntegerType::Unsigned);
  const Term high = bitcast(mulhiOfHalves(bitcast(x, bits), bitcast(y, bits)), element);
  return high - select(x < 0.0, y, 0.0) - select(y < 0.0, x, 0.0);
}

namespace {

/// The next number by codes, which are in the order of magnitudes.
Term nextCode(Term x, Term y, Term wideX, Term wideY, const format::ElementFormat& format) {
  mlir::OpBuilder& builder = x.formula().builder;
  const mlir::Type word = builder.getIntegerType(static_cast<unsigned>(format.width()));
  const auto code = [&](std::uint64_t bits) {
    return x.formula().constant(
        builder.getIntegerAttr(word, llvm::APInt(static_cast<unsigned>(format.width()), bits)));
  };
  const Term from = bitcast(x, word), to = bitcast(y, word);
  const Term step = select((wideX < wideY) == (wideX > 0.0), code(1), from.number(-1.0));
  Term next = from + step;
  if (format.hasZero()) {
    if (!format.hasNegativeZero()) // Above the largest negative number lies the only zero.
      next = select(next == code(format.signMask()), 0.0, next);
    next = select(wideX == 0.0, select(wideY < 0.0, code(format.signMask() | 1), code(1)), next);
  }
  next = select(wideX == wideY, to, next);
  if (const auto nan = format.nanCode())
    next = select((wideX != wideX) | (wideY != wideY), code(*nan), next);
  return bitcast(next, x.element());
}

/// The next number in formats whose width no integer type has: x plus or minus the spacing, in f32.
Term nextByStep(Term x, Term y, const format::ElementFormat& format) {
  const Term a = abs(x);
  const Term isOutward = (x == 0.0) | ((x < y) == (x > 0.0));
  const mlir::Type word = x.formula().builder.getI32Type();
  constexpr int kTrailing = 23;
  // Inward, the spacing is that at the number just below in f32.
  const Term bits = bitcast(a, word), inside = select(isOutward, bits, bits - 1.0);
  const Term power =
      bitcast(shiftLeft(shiftRightLogical(inside, kTrailing), kTrailing), x.element());
  const Term spacing = maximum(power, std::ldexp(1.0, format.emin())) *
                       std::ldexp(1.0, -format.trailingSignificandBits);
  const Term next = withSign(select(isOutward, a + spacing, a - spacing), select(x == 0.0, y, x));
  return select(x == y, y, next);
}

} // namespace

Term nextAfter(Term x, Term y) {
  const format::ElementFormat& format = *elementFormat(x.element());
  const mlir::Type wide = x.element().isF64() ? x.element() : x.formula().builder.getF32Type();
  const Term wideX = convert(x, wide), wideY = convert(y, wide);
  if (format.width() == 6)
    return convert(nextByStep(wideX, wideY, format), x.element());
  return nextCode(x, y, wideX, wideY, format);
}

} // namespace octavo::transforms
