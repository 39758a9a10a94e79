// Functions of CHLO that the C library lacks, on f64.
#pragma once

namespace octavo::reference {

/// The inverse of erf: +-Inf at +-1, NaN outside.
double inverseErf(double x);

/// The derivative of log |gamma|; NaN at the poles 0, -1, -2, ...
double digamma(double x);

/// log |gamma|; +Inf at the poles and at either infinity.
double logGamma(double x);

} // namespace octavo::reference
