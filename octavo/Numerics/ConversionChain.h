// Conversions one after the other: which chains one conversion may take the place of.
#pragma once

#include "octavo/Format/ElementFormat.h"

namespace octavo::numerics {

using format::ElementFormat;

/// Whether each finite value of `inner`, the sign of a zero aside, is a value of `outer`.
bool holdsFiniteValues(const ElementFormat& outer, const ElementFormat& inner);

/// Whether a value of `from` that is converted to `through` and then to `to` becomes, whatever it
/// is, what it becomes if it is converted to `to` at once: infinities, signs of zeros and signs of
/// NaN included, payloads of NaN not (rule N3). Conversions are those of stablehlo.convert. False
/// for two's complement formats.
bool isTransparent(const ElementFormat& from, const ElementFormat& through,
                   const ElementFormat& to);

/// The format for which reduce_precision to these widths (rule N10) is a conversion of every value
/// of `source` to it and back; null where there is none.
const ElementFormat* formatOfReducePrecision(const ElementFormat& source, int exponentBits,
                                             int trailingSignificandBits);

} // namespace octavo::numerics
