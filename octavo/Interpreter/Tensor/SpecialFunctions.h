// Functions of CHLO that the C library lacks, on f64; in extended precision if f64 is not precise
// enough.
#pragma once

namespace octavo::interpreter {

/// The inverse of erf: +-Inf at +-1, NaN outside.
long double inverseErf(long double x);

/// The derivative of log |gamma|; NaN at the poles 0, -1, -2, ...
long double digamma(long double x);

/// log |gamma|; +Inf at the poles and at either infinity.
long double logGamma(long double x);

/// Hurwitz's zeta function, the sum of (q + k)^-x over k >= 0. +Inf for x = 1, NaN for x < 1. For q
/// <= 0: NaN if x is not an integer; at a pole +Inf for even x, else NaN.
double zeta(double x, double q);

/// The derivative of order n of digamma; NaN if n is not a non-negative integer. At the poles 0,
/// -1, -2, ...: +Inf for odd n, else NaN.
double polygamma(double n, double x);

/// exp(-|x|) I1(x), with I1 the modified Bessel function of the first kind of order 1.
double besselI1e(double x);

} // namespace octavo::interpreter
