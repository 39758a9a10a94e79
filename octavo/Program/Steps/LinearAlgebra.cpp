#include "octavo/Program/Steps/LinearAlgebra.h"

#include "octavo/Base/Lanes.h"
#include "octavo/Base/Loops.h"
#include "octavo/Program/Steps/BorrowedWorker.h"
#include "octavo/Program/Steps/Interruption.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace octavo::program {

namespace {

using base::kLanes;
using base::Lanes;

/// Rows whose sums stay in registers while known terms are subtracted.
constexpr int kRows = 4;
/// The least number of multiplications per thread.
constexpr std::int64_t kWorthAThread = 65536;

std::int64_t pieces(std::int64_t n, std::int64_t of) { return (n + of - 1) / of; }

template <typename Number> constexpr bool kIsComplex = false;
template <typename Part> constexpr bool kIsComplex<std::complex<Part>> = true;

/// f64 numbers in rows of whole vectors; imaginary parts are stored separately.
struct Planes {
  double *re, *im;
  std::int64_t stride;
};

/// A scalar factor for lanes. Not std::complex: clang 22 omits constructors that only functions
/// with clones call.
struct Factor {
  double re, im;
};

template <bool kComplex> struct LanesOfNumbers {
  Lanes re, im;

  OCTAVO_INTO_CLONES void load(const Planes& planes, std::int64_t place) {
    std::memcpy(&re, planes.re + place, sizeof re);
    if constexpr (kComplex)
      std::memcpy(&im, planes.im + place, sizeof im);
  }
  OCTAVO_INTO_CLONES void store(const Planes& planes, std::int64_t place) const {
    std::memcpy(planes.re + place, &re, sizeof re);
    if constexpr (kComplex)
      std::memcpy(planes.im + place, &im, sizeof im);
  }
  /// *this -= factor * x.
  OCTAVO_INTO_CLONES void subtract(const Factor& factor, const LanesOfNumbers& x) {
    const double a = factor.re, b = factor.im;
    if constexpr (kComplex) {
      re -= a * x.re - b * x.im;
      im -= a * x.im + b * x.re;
    } else {
      re -= a * x.re;
    }
  }
};

/// Subtracts the rows above from rows [row, row + kRows) of L^T, in columns [begin, end). Elements
/// before the diagonal are undefined.
template <bool kComplex>
OCTAVO_INTO_CLONES void subtractKnown(const Planes& l, std::int64_t row, std::int64_t begin,
                                      std::int64_t end) {
  for (std::int64_t column = begin; column < end; column += kLanes) {
    LanesOfNumbers<kComplex> sums[kRows];
    for (int r = 0; r < kRows; ++r)
      sums[r].load(l, (row + r) * l.stride + column);
    for (std::int64_t k = 0; k < row; ++k) {
      LanesOfNumbers<kComplex> known;
      known.load(l, k * l.stride + column);
      for (int r = 0; r < kRows; ++r) {
        const std::int64_t place = k * l.stride + row + r;
        sums[r].subtract(Factor{l.re[place], kComplex ? -l.im[place] : 0.0}, known);
      }
    }
    for (int r = 0; r < kRows; ++r)
      sums[r].store(l, (row + r) * l.stride + column);
  }
}

/// Factors these rows after all rows above have been subtracted. False if the matrix is not
/// positive definite.
template <bool kComplex>
OCTAVO_INTO_CLONES bool finishRows(const Planes& l, std::int64_t first, std::int64_t count) {
  for (std::int64_t row = first; row < first + count; ++row) {
    const std::int64_t begin = row / kLanes * kLanes;
    for (std::int64_t k = first; k < row; ++k) {
      const std::int64_t place = k * l.stride + row;
      const Factor factor{l.re[place], kComplex ? -l.im[place] : 0.0};
      for (std::int64_t column = begin; column < l.stride; column += kLanes) {
        LanesOfNumbers<kComplex> sums, known;
        sums.load(l, row * l.stride + column);
        known.load(l, k * l.stride + column);
        sums.subtract(factor, known);
        sums.store(l, row * l.stride + column);
      }
    }
    const std::int64_t diagonal = row * l.stride + row;
    if (!(l.re[diagonal] > 0.0))
      return false;
    const double root = std::sqrt(l.re[diagonal]);
    for (std::int64_t column = begin; column < l.stride; column += kLanes) {
      LanesOfNumbers<kComplex> sums;
      sums.load(l, row * l.stride + column);
      sums.re /= root;
      if constexpr (kComplex)
        sums.im /= root;
      sums.store(l, row * l.stride + column);
    }
    l.re[diagonal] = root;
    if constexpr (kComplex)
      l.im[diagonal] = 0.0;
  }
  return true;
}

/// A triangular matrix with rows and columns in the order of substitution.
template <typename Number> struct Triangle {
  const Number* first;
  std::int64_t rowStride, columnStride;
  bool isConjugate, isUnitDiagonal;

  OCTAVO_INTO_CLONES Factor at(std::int64_t row, std::int64_t column) const {
    const Number& x = first[row * rowStride + column * columnStride];
    if constexpr (kIsComplex<Number>)
      return {x.real(), isConjugate ? -static_cast<double>(x.imag()) : x.imag()};
    else
      return {x, 0.0};
  }
};

/// Quotients as std::complex computes them.
void divide(double* re, double* im, const Factor& divisor) {
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    const _Complex double quotient =
        __builtin_complex(re[lane], im[lane]) / __builtin_complex(divisor.re, divisor.im);
    re[lane] = __real__ quotient;
    im[lane] = __imag__ quotient;
  }
}

/// Rows [row, row + kCount) of the solutions of kLanes systems.
template <int kCount, typename Number>
OCTAVO_INTO_CLONES void solveRows(const Triangle<Number>& a, const Planes& x, std::int64_t row) {
  LanesOfNumbers<kIsComplex<Number>> sums[kCount];
  for (int r = 0; r < kCount; ++r)
    sums[r].load(x, (row + r) * kLanes);
  for (std::int64_t k = 0; k < row; ++k) {
    LanesOfNumbers<kIsComplex<Number>> known;
    known.load(x, k * kLanes);
    for (int r = 0; r < kCount; ++r)
      sums[r].subtract(a.at(row + r, k), known);
  }
  for (int r = 0; r < kCount; ++r) {
    for (int k = 0; k < r; ++k)
      sums[r].subtract(a.at(row + r, row + k), sums[k]);
    if (!a.isUnitDiagonal) {
      const Factor divisor = a.at(row + r, row + r);
      if constexpr (kIsComplex<Number>) {
        double re[kLanes], im[kLanes];
        std::memcpy(re, &sums[r].re, sizeof re);
        std::memcpy(im, &sums[r].im, sizeof im);
        divide(re, im, divisor);
        std::memcpy(&sums[r].re, re, sizeof re);
        std::memcpy(&sums[r].im, im, sizeof im);
      } else {
        sums[r].re /= divisor.re;
      }
    }
    sums[r].store(x, (row + r) * kLanes);
  }
}

template <typename Number>
OCTAVO_INTO_CLONES void solveAll(const Triangle<Number>& a, const Planes& x, std::int64_t n) {
  std::int64_t row = 0;
  for (; row + kRows <= n; row += kRows)
    solveRows<kRows>(a, x, row);
  for (; row < n; ++row)
    solveRows<1>(a, x, row);
}

} // namespace

OCTAVO_VECTOR_CLONES void subtractReal(const Planes& l, std::int64_t row, std::int64_t begin,
                                       std::int64_t end) {
  subtractKnown<false>(l, row, begin, end);
}
OCTAVO_VECTOR_CLONES void subtractComplex(const Planes& l, std::int64_t row, std::int64_t begin,
                                          std::int64_t end) {
  subtractKnown<true>(l, row, begin, end);
}
OCTAVO_VECTOR_CLONES bool finishReal(const Planes& l, std::int64_t first, std::int64_t count) {
  return finishRows<false>(l, first, count);
}
OCTAVO_VECTOR_CLONES bool finishComplex(const Planes& l, std::int64_t first, std::int64_t count) {
  return finishRows<true>(l, first, count);
}
#define OCTAVO_SOLVE(NUMBER)                                                                       \
  OCTAVO_VECTOR_CLONES void solveSystems(const Triangle<NUMBER>& a, const Planes& x,               \
                                         std::int64_t n) {                                         \
    solveAll(a, x, n);                                                                             \
  }
OCTAVO_SOLVE(float)
OCTAVO_SOLVE(double)
OCTAVO_SOLVE(std::complex<float>)
OCTAVO_SOLVE(std::complex<double>)
#undef OCTAVO_SOLVE

namespace {

/// Memory for `rows` rows.
template <typename Number> Planes planesOf(Worker& worker, std::int64_t rows, std::int64_t stride) {
  const std::int64_t size = rows * stride;
  const std::int64_t planes = kIsComplex<Number> ? 2 : 1;
  auto* const memory = reinterpret_cast<double*>(
      worker.room(static_cast<std::size_t>(planes * size) * sizeof(double)));
  return {memory, memory + (planes - 1) * size, stride};
}

template <typename Number> void put(const Planes& planes, std::int64_t place, Number x) {
  planes.re[place] = std::real(x);
  if constexpr (kIsComplex<Number>)
    planes.im[place] = std::imag(x);
}

template <typename Number> Number get(const Planes& planes, std::int64_t place) {
  if constexpr (kIsComplex<Number>) {
    using Part = typename Number::value_type;
    return {static_cast<Part>(planes.re[place]), static_cast<Part>(planes.im[place])};
  } else {
    return static_cast<Number>(planes.re[place]);
  }
}

template <typename Number> Number conjugate(Number x) {
  if constexpr (kIsComplex<Number>)
    return std::conj(x);
  else
    return x;
}

/// Calls f(i) for 0 <= i < count in parallel. False if the run was interrupted.
template <typename F>
bool forEach(const Frame& frame, std::int64_t count, double multiplications, const F& f) {
  const auto grain = static_cast<std::int64_t>(
      std::max(1.0, static_cast<double>(kWorthAThread) / std::max(1.0, multiplications)));
  Interruption interruption(frame);
  base::forRanges(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i != end && !interruption.isAsked(); ++i)
      f(i);
  });
  return !interruption.wasAsked();
}

} // namespace

/// Computes L^T row by row and stores L or U. U is the adjoint of the L of the adjoint matrix.
template <typename Number>
void CholeskyStep::factor(const Frame& frame, Worker& worker, std::int64_t matrix) const {
  const Number* a = frame.at<const Number>(from) + matrix * n * n;
  Number* result = frame.at<Number>(to) + matrix * n * n;
  constexpr bool kComplex = kIsComplex<Number>;
  // A multiple of kLanes, hence also of kRows.
  const std::int64_t stride = pieces(n, kLanes) * kLanes;
  const Planes l = planesOf<Number>(worker, stride, stride);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j / kLanes * kLanes; i < stride; ++i)
      put(l, j * stride + i,
          i < j || i >= n ? Number(0)
          : isLower       ? a[i * n + j]
                          : conjugate(a[j * n + i]));
  }
  for (std::int64_t j = n; j < stride; ++j)
    for (std::int64_t i = 0; i < stride; ++i)
      put(l, j * stride + i, Number(0));
  bool isDefinite = true;
  for (std::int64_t row = 0; row < n && isDefinite; row += kRows) {
    const std::int64_t first = row / kLanes;
    const auto subtract = [&](std::int64_t begin, std::int64_t end) {
      (kComplex ? subtractComplex : subtractReal)(l, row, (first + begin) * kLanes,
                                                  (first + end) * kLanes);
    };
    // With several matrices, threads share the matrices.
    if (count.of(frame) == 1)
      base::forRanges(stride / kLanes - first, 1 + kWorthAThread / (kRows * kLanes * (row + 1)),
                      subtract);
    else
      subtract(0, stride / kLanes - first);
    isDefinite =
        (kComplex ? finishComplex : finishReal)(l, row, std::min<std::int64_t>(kRows, n - row));
  }
  const Number none(std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      const bool isThere = isLower ? j <= i : j >= i;
      const std::int64_t place = isLower ? j * stride + i : i * stride + j;
      const Number x = !isThere ? Number(0) : isDefinite ? get<Number>(l, place) : none;
      result[i * n + j] = isLower ? x : conjugate(x);
    }
}

Outcome CholeskyStep::run(Frame& frame) const {
  if (n == 0)
    return {};
  const double each = static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(n) / 6;
  const bool isWhole = forEach(frame, count.of(frame), each, [&](std::int64_t matrix) {
    const BorrowedWorker worker(frame);
    numbers.visit([&]<typename Number>(Number) { factor<Number>(frame, *worker, matrix); });
  });
  return isWhole ? Outcome() : interruption(*this);
}

StepFacts CholeskyStep::facts() const {
  return {.kind = StepFacts::Kind::Cholesky,
          .detail = fmt::format("{} of {} rows", count == 1 ? "a matrix" : "matrices", n),
          .bytes = 2 * static_cast<double>(count.of(1) * n * n * numbers.bytes())};
}

/// Solves kLanes systems, from `first` on.
template <typename Number>
void TriangularSolveStep::solve(const Frame& frame, Worker& worker, std::int64_t matrix,
                                std::int64_t first) const {
  // x a = b is a^T x^T = b^T, so the matrix is read by columns.
  const bool isAcross = system.isTransposed == system.isLeft;
  const bool isForward = system.isLower != isAcross;
  const std::int64_t direction = isForward ? 1 : -1, begin = isForward ? 0 : n - 1;
  const Number* matrixOf = frame.at<const Number>(a) + matrix * n * n;
  const Triangle<Number> triangle{.first = matrixOf + begin * (n + 1),
                                  .rowStride = direction * (isAcross ? 1 : n),
                                  .columnStride = direction * (isAcross ? n : 1),
                                  .isConjugate = system.isConjugate,
                                  .isUnitDiagonal = system.isUnitDiagonal};
  const std::int64_t used = std::min(kLanes, others - first);
  const std::int64_t step = system.isLeft ? others : 1, next = system.isLeft ? 1 : n;
  const std::int64_t place = matrix * n * others + first * next + begin * step;
  const Number* given = frame.at<const Number>(b) + place;
  Number* result = frame.at<Number>(x) + place;
  const Planes planes = planesOf<Number>(worker, n, kLanes);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < kLanes; ++lane)
      put(planes, i * kLanes + lane,
          lane < used ? given[i * direction * step + lane * next] : Number(0));
  solveSystems(triangle, planes, n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t lane = 0; lane < used; ++lane)
      result[i * direction * step + lane * next] = get<Number>(planes, i * kLanes + lane);
}

Outcome TriangularSolveStep::run(Frame& frame) const {
  if (n == 0 || others == 0)
    return {};
  const std::int64_t groups = pieces(others, kLanes);
  const double each = static_cast<double>(n) * static_cast<double>(n) / 2 * kLanes;
  const bool isWhole = forEach(frame, count.of(frame) * groups, each, [&](std::int64_t group) {
    const BorrowedWorker worker(frame);
    numbers.visit([&]<typename Number>(Number) {
      solve<Number>(frame, *worker, group / groups, group % groups * kLanes);
    });
  });
  return isWhole ? Outcome() : interruption(*this);
}

StepFacts TriangularSolveStep::facts() const {
  const auto size = static_cast<double>(count.of(1) * n);
  return {.kind = StepFacts::Kind::TriangularSolve,
          .detail = fmt::format("{} systems of {} rows", others, n),
          .bytes = size * static_cast<double>((n + 2 * others) * numbers.bytes())};
}

} // namespace octavo::program
