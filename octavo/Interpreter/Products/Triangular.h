// Cholesky's factorization and triangular systems.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// For each matrix of the last two axes: L with a = L L^H where `isLower`, U with a = U^H U
/// otherwise, from that triangle of `a` alone; zeros in the other. NaN in the whole triangle where
/// `a` is not positive definite. Floats or complex numbers, computed in f64 and rounded once.
Tensor cholesky(const Tensor& a, bool isLower);

enum class MatrixForm { AsIs, Transposed, Adjoint };

struct TriangularSystem {
  bool isLeft;         ///< form(a) x = b, else x form(a) = b
  bool isLower;        ///< the triangle of `a`, as given, that is read
  bool isUnitDiagonal; ///< the diagonal is taken as ones and not read
  MatrixForm form;
};

/// x for each pair of matrices of the last two axes, computed in f64 and rounded once.
Tensor triangularSolve(const Tensor& a, const Tensor& b, const TriangularSystem& system);

} // namespace octavo::interpreter
