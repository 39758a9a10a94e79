// Cholesky factorization and triangular systems.
#pragma once

#include "octavo/Interpreter/Tensor/Elements.h"

namespace octavo::interpreter {

/// For each matrix of the last two axes: L with a = L L^H if `isLower`, else U with a = U^H U. Only
/// that triangle of `a` is read; the result's other triangle is zero. If `a` is not positive
/// definite, the triangle is NaN. Floats or complex numbers, computed in f64 and rounded once.
Tensor cholesky(const Tensor& a, bool isLower);

/// How a matrix is used: unchanged, transposed, or conjugate transposed.
enum class MatrixForm { AsIs, Transposed, Adjoint };

/// The options of a triangular solve.
struct TriangularSystem {
  bool isLeft;         ///< form(a) x = b, else x form(a) = b
  bool isLower;        ///< which triangle of `a`, before `form`, is read
  bool isUnitDiagonal; ///< the diagonal is ones and is not read
  MatrixForm form;
};

/// Solves for x for each pair of matrices of the last two axes. Computed in f64 and rounded once.
Tensor triangularSolve(const Tensor& a, const Tensor& b, const TriangularSystem& system);

} // namespace octavo::interpreter
