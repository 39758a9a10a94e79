#include "octavo/Interpreter/Products/Triangular.h"

#include <cmath>
#include <complex>
#include <limits>

namespace octavo::interpreter {

namespace {

inline double conjugate(double x) { return x; }
inline std::complex<double> conjugate(std::complex<double> x) { return std::conj(x); }
/// Complex numbers by the formula (rule I1).
inline double product(double x, double y) { return x * y; }
inline std::complex<double> product(std::complex<double> x, std::complex<double> y) {
  return {x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real()};
}

/// Factors one n x n matrix in place: the lower triangle of `a` becomes L.
template <typename T> void factor(T* a, std::int64_t n) {
  bool isDefinite = true;
  for (std::int64_t j = 0; j < n && isDefinite; ++j) {
    double diagonal = std::real(a[j * n + j]);
    for (std::int64_t k = 0; k < j; ++k)
      diagonal -= std::norm(a[j * n + k]);
    isDefinite = diagonal > 0.0;
    const double root = std::sqrt(diagonal);
    a[j * n + j] = root;
    for (std::int64_t i = j + 1; i < n; ++i) {
      T sum = a[i * n + j];
      for (std::int64_t k = 0; k < j; ++k)
        sum -= product(a[i * n + k], conjugate(a[j * n + k]));
      a[i * n + j] = sum / root;
    }
  }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (j > i)
        a[i * n + j] = T(0);
      else if (!isDefinite)
        a[i * n + j] = T(std::numeric_limits<double>::quiet_NaN());
}

template <typename T> void factorAll(std::vector<T>& values, std::int64_t n, bool isLower) {
  if (n == 0)
    return;
  std::vector<T> matrix(static_cast<std::size_t>(n * n));
  for (std::size_t first = 0; first < values.size(); first += matrix.size()) {
    T* a = values.data() + first;
    // U is the adjoint of the L of the adjoint.
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j <= i; ++j)
        matrix[i * n + j] = isLower ? a[i * n + j] : conjugate(a[j * n + i]);
    factor(matrix.data(), n);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        a[i * n + j] = isLower ? matrix[i * n + j] : conjugate(matrix[j * n + i]);
  }
}

/// Solves one system in place: `b`, with `rows` rows and `columns` columns, becomes x. Known values
/// are subtracted in the order in which they were computed.
template <typename T>
void solve(const T* a, T* b, std::int64_t n, std::int64_t rows, std::int64_t columns,
           const TriangularSystem& system) {
  // x form(a) = b means form(a)^T x^T = b^T: the matrix is read by columns.
  const bool isAcross = (system.form != MatrixForm::AsIs) != !system.isLeft;
  const bool isConjugate = system.form == MatrixForm::Adjoint;
  const auto at = [&](std::int64_t i, std::int64_t j) {
    const T x = isAcross ? a[j * n + i] : a[i * n + j];
    return isConjugate ? conjugate(x) : x;
  };
  const bool isForward = system.isLower != isAcross;
  const auto rowOf = [&](std::int64_t turn) { return isForward ? turn : n - 1 - turn; };
  const std::int64_t count = system.isLeft ? columns : rows;
  const std::int64_t step = system.isLeft ? columns : 1;
  for (std::int64_t c = 0; c < count; ++c) {
    T* x = b + (system.isLeft ? c : c * columns);
    for (std::int64_t turn = 0; turn < n; ++turn) {
      const std::int64_t i = rowOf(turn);
      T sum = x[i * step];
      for (std::int64_t known = 0; known < turn; ++known)
        sum -= product(at(i, rowOf(known)), x[rowOf(known) * step]);
      x[i * step] = system.isUnitDiagonal ? sum : sum / at(i, i);
    }
  }
}

template <typename T>
void solveAll(const std::vector<T>& a, std::vector<T>& b, std::int64_t n, std::int64_t rows,
              std::int64_t columns, const TriangularSystem& system) {
  const std::int64_t size = rows * columns;
  if (size == 0)
    return;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(b.size()) / size; ++i)
    solve(a.data() + i * n * n, b.data() + i * size, n, rows, columns, system);
}

} // namespace

Tensor cholesky(const Tensor& a, bool isLower) {
  const std::int64_t n = a.shape.back();
  if (a.type.isComplex()) {
    std::vector<std::complex<double>> values = decodeComplex(a);
    factorAll(values, n, isLower);
    return encodeComplex(a.type.part(), a.shape, values);
  }
  std::vector<double> values = decodeElements(a);
  factorAll(values, n, isLower);
  return encodeElements(a.type.format(), a.shape, std::span<const double>(values));
}

Tensor triangularSolve(const Tensor& a, const Tensor& b, const TriangularSystem& system) {
  const std::int64_t n = a.shape.back();
  const std::int64_t rows = b.shape[b.shape.size() - 2], columns = b.shape.back();
  if (a.type.isComplex()) {
    std::vector<std::complex<double>> values = decodeComplex(b);
    solveAll(decodeComplex(a), values, n, rows, columns, system);
    return encodeComplex(b.type.part(), b.shape, values);
  }
  std::vector<double> values = decodeElements(b);
  solveAll(decodeElements(a), values, n, rows, columns, system);
  return encodeElements(b.type.format(), b.shape, std::span<const double>(values));
}

} // namespace octavo::interpreter
