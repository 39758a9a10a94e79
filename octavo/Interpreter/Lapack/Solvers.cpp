// Triangular and tridiagonal systems.
#include "octavo/Interpreter/Lapack/Calls.h"

#include <algorithm>
#include <limits>

namespace octavo::interpreter::lapack {

namespace {

struct Trsm {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n'), size = batch.extent('p');
    const char side = batch.letter("side");
    if (size != (side == 'L' ? m : n))
      return "takes a matrix of " + std::to_string(side == 'L' ? m : n) + " rows; found " +
             std::to_string(size);
    for (std::int64_t i = 0; i < batch.size(); ++i)
      Routines<T>::trsm(side, batch.letter("uplo"), batch.letter("trans_x"), batch.letter("diag"),
                        m, n, T(1), batch.operand<T>(0, i).data(), leading(size),
                        batch.inPlace<T>(1, 0, i), leading(m), 1, 1, 1, 1);
    return "";
  }
};

struct Gtsv {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n'), sides = batch.extent('r');
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* lower = batch.inPlace<T>(0, 0, i);
      T* diagonal = batch.inPlace<T>(1, 1, i);
      T* upper = batch.inPlace<T>(2, 2, i);
      T* b = batch.inPlace<T>(3, 3, i);
      // The call's lower diagonal has an unused first element, which LAPACK does not have.
      Routines<T>::gtsv(n, sides, n == 0 ? lower : lower + 1, diagonal, upper, b, leading(n),
                        batch.result<Int>(4, i).front());
    }
    return "";
  }
};

/// A tridiagonal matrix, factored with pivoting: U has two superdiagonals.
template <typename T> struct TridiagonalFactors {
  std::vector<T> lower, diagonal, upper, second;
  std::vector<bool> isSwapped; ///< whether rows i and i + 1 were swapped

  /// Factors the matrix with the lower, main and upper diagonals `l`, `d` and `u`.
  TridiagonalFactors(std::span<const T> l, std::span<const T> d, std::span<const T> u)
      : lower(l.begin(), l.end()), diagonal(d.begin(), d.end()), upper(u.begin(), u.end()),
        second(d.size()), isSwapped(d.size()) {
    for (std::size_t i = 0; i + 1 < diagonal.size(); ++i) {
      T& below = lower[i + 1];
      if (std::abs(diagonal[i]) >= std::abs(below)) {
        const T factor = diagonal[i] == T(0) ? T(0) : below / diagonal[i];
        diagonal[i + 1] -= factor * upper[i];
        below = factor;
      } else {
        const T factor = diagonal[i] / below;
        isSwapped[i] = true;
        diagonal[i] = below;
        const T above = upper[i];
        upper[i] = diagonal[i + 1];
        diagonal[i + 1] = above - factor * upper[i];
        if (i + 2 < diagonal.size()) {
          second[i] = upper[i + 1];
          upper[i + 1] = -factor * upper[i + 1];
        }
        below = factor;
      }
    }
  }

  /// Replaces pivots that are smaller in magnitude than eps times the largest element of U by that
  /// value, with the sign of their real part. If U is zero, the value is eps.
  void perturb() {
    Real<T> largest = 0;
    const std::size_t n = diagonal.size();
    for (std::size_t i = 0; i < n; ++i) {
      largest = std::max(largest, std::abs(diagonal[i]));
      if (i + 1 < n)
        largest = std::max(largest, std::abs(upper[i]));
      largest = std::max(largest, std::abs(second[i]));
    }
    const Real<T> eps = std::numeric_limits<Real<T>>::epsilon();
    const Real<T> least = largest == 0 ? eps : eps * largest;
    for (T& pivot : diagonal)
      if (std::abs(pivot) < least)
        pivot = std::real(pivot) < 0 ? -least : least;
  }

  void solve(std::span<T> b) const {
    const std::size_t n = b.size();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (isSwapped[i])
        std::swap(b[i], b[i + 1]);
      b[i + 1] -= lower[i + 1] * b[i];
    }
    for (std::size_t i = n; i-- > 0;) {
      if (i + 1 < n)
        b[i] -= upper[i] * b[i + 1];
      if (i + 2 < n)
        b[i] -= second[i] * b[i + 2];
      b[i] /= diagonal[i];
    }
  }
};

struct TridiagonalPerturbed {
  template <typename T> static std::string run(Batch& batch) {
    const auto n = static_cast<std::size_t>(batch.extent('n'));
    const auto sides = static_cast<std::size_t>(batch.extent('r'));
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      TridiagonalFactors<T> factors(batch.operand<T>(0, i), batch.operand<T>(1, i),
                                    batch.operand<T>(2, i));
      factors.perturb();
      T* b = batch.inPlace<T>(3, 0, i);
      for (std::size_t side = 0; side < sides; ++side)
        factors.solve(std::span(b + side * n, n));
    }
    return "";
  }
};

} // namespace

std::vector<Call> solvers() {
  return {callOf<Gtsv>("gtsv", "T[n] T[n] T[n] T[n,r] -> T[n] T[n] T[n] T[n,r] i[]"),
          callOf<TridiagonalPerturbed>("tridiagonal_solve_perturbed_ffi",
                                       "T[n] T[n] T[n] T[n,r] -> T[n,r]"),
          callOf<Trsm>("trsm", "T[p,p] T[m,n] -> T[m,n]", "side=LR uplo=LU trans_x=NTC diag=UN")};
}

} // namespace octavo::interpreter::lapack
