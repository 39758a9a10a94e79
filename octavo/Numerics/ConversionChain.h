// Chains of conversions: which of them one conversion may replace.
#pragma once

#include "octavo/Format/ElementFormat.h"

namespace octavo::numerics {

using format::ElementFormat;

/// Whether each finite value of `inner` is a value of `outer`. The sign of zero is ignored.
bool holdsFiniteValues(const ElementFormat& outer, const ElementFormat& inner);

/// Whether converting any value of `from` to `through` and then to `to` gives the same as
/// converting it to `to` directly. Infinities and the signs of zeros and NaN count, payloads of NaN
/// do not (rule N3). Conversions are those of stablehlo.convert. False for two's complement
/// formats.
bool isTransparent(const ElementFormat& from, const ElementFormat& through,
                   const ElementFormat& to);

/// The format F for which reduce_precision to these widths (rule N10) equals a conversion of every
/// value of `source` to F and back; null if there is none.
const ElementFormat* formatOfReducePrecision(const ElementFormat& source, int exponentBits,
                                             int trailingSignificandBits);

} // namespace octavo::numerics
