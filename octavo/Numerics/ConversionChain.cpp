#include "octavo/Numerics/ConversionChain.h"

#include "octavo/Numerics/Conversion.h"

namespace octavo::numerics {

namespace {

using format::Specials;

bool hasSignedNan(const ElementFormat& format) {
  return format.specials == Specials::Ieee || format.specials == Specials::NanOnly;
}

} // namespace

// A format has the numbers of up to p significant bits that are multiples of its quantum and not
// beyond its largest, and where it has no zero, no sign and no subnormals, the powers of two alone.
bool holdsFiniteValues(const ElementFormat& outer, const ElementFormat& inner) {
  if (outer.isInteger() || inner.isInteger())
    return outer == inner;
  if ((inner.hasZero() && !outer.hasZero()) || (inner.isSigned() && !outer.isSigned()))
    return false;
  return inner.trailingSignificandBits <= outer.trailingSignificandBits &&
         inner.quantumExponent() >= outer.quantumExponent() && maxValue(inner) <= maxValue(outer);
}

bool isTransparent(const ElementFormat& from, const ElementFormat& through,
                   const ElementFormat& to) {
  if (from.isInteger() || through.isInteger() || to.isInteger() ||
      !holdsFiniteValues(through, from))
    return false;
  if (from.hasInf() && !through.hasInf())
    return false;
  // A format without -0 makes no difference between the zeros, and neither does one without zeros.
  if (from.hasNegativeZero() && !through.hasNegativeZero() && to.hasNegativeZero())
    return false;
  if (!from.hasNan())
    return true;
  if (!through.hasNan())
    return false;
  return !hasSignedNan(from) || hasSignedNan(through) || (to.hasNan() && !hasSignedNan(to));
}

// With the exponent field of the source, the bias is the source's, and reduce_precision keeps its
// subnormals and rounds them on the format's grid. A narrower field has no subnormals there.
const ElementFormat* formatOfReducePrecision(const ElementFormat& source, int exponentBits,
                                             int trailingSignificandBits) {
  if (source.specials != Specials::Ieee || exponentBits != source.exponentBits)
    return nullptr;
  for (const ElementFormat& format : format::kElementFormats)
    if (format.specials == Specials::Ieee && format.exponentBits == exponentBits &&
        format.bias == source.bias && format.trailingSignificandBits == trailingSignificandBits &&
        trailingSignificandBits < source.trailingSignificandBits)
      return &format;
  return nullptr;
}

} // namespace octavo::numerics
