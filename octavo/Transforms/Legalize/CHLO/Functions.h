// CHLO's functions as formulas of StableHLO operations. Functions of one argument take f32 or f64;
// those named complex take complex numbers.
#pragma once

#include "octavo/Transforms/Legalize/CHLO/Term.h"

#include <limits>

namespace octavo::transforms {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// InverseFunctions.cpp
Term acos(Term x);
Term acosh(Term x);
Term asin(Term x);
Term asinh(Term x);
Term atan(Term x);
Term atanh(Term x);

// InverseComplexFunctions.cpp
Term complexAcos(Term z);
Term complexAcosh(Term z);
Term complexAsin(Term z);
Term complexAsinh(Term z);
Term complexAtan(Term z);
Term complexAtanh(Term z);

// HyperbolicFunctions.cpp
Term cosh(Term x);
Term sinh(Term x);
Term complexCosh(Term z);
Term complexSinh(Term z);

// ErrorFunctions.cpp
Term erf(Term x);
Term erfc(Term x);
Term erfInv(Term x);

// GammaFunctions.cpp
Term lgamma(Term x);
Term digamma(Term x);

// ZetaFunctions.cpp
Term zeta(Term x, Term q);
Term polygamma(Term n, Term x);

// BesselFunctions.cpp
Term besselI1e(Term x);

// Arithmetic.cpp
Term complexSquare(Term z);
Term conjugate(Term z);
/// The high half of the product of two integers.
Term mulhi(Term x, Term y);
/// The next number from x toward y, both of one float format.
Term nextAfter(Term x, Term y);

} // namespace octavo::transforms
