#include "octavo/Interpreter/Tensor/Fft.h"

#include "octavo/Base/Loops.h"
#include "octavo/Interpreter/Tensor/Conversions.h"
#include "octavo/Interpreter/Tensor/Movement.h"
#include "octavo/Numerics/Fourier.h"

#include <complex>

namespace octavo::interpreter {

namespace {

using numerics::rootsOfUnity;
using numerics::smallestFactor;

/// Transforms n numbers that are `stride` apart into n consecutive ones. With p the smallest factor
/// of n: p transforms of n / p numbers, all but the first multiplied by twiddle factors, then
/// added.
template <typename Real>
void transform(const std::complex<Real>* from, std::complex<Real>* to, std::int64_t n,
               std::int64_t stride, const std::vector<std::complex<Real>>& roots,
               std::vector<std::complex<Real>>& scratch) {
  if (n == 1) {
    *to = *from;
    return;
  }
  const std::int64_t p = smallestFactor(n), m = n / p;
  const auto whole = static_cast<std::int64_t>(roots.size());
  for (std::int64_t j = 0; j < p; ++j)
    transform(from + j * stride, to + j * m, m, stride * p, roots, scratch);
  for (std::int64_t k = 0; k < m; ++k) {
    for (std::int64_t q = 0; q < p; ++q) {
      std::complex<Real> sum = to[k];
      for (std::int64_t j = 1; j < p; ++j) {
        const std::int64_t turn = j * (k + q * m) % n * (whole / n);
        const std::complex<Real> x = to[j * m + k], root = roots[turn];
        sum += std::complex<Real>(x.real() * root.real() - x.imag() * root.imag(),
                                  x.real() * root.imag() + x.imag() * root.real());
      }
      scratch[q] = sum;
    }
    for (std::int64_t q = 0; q < p; ++q)
      to[q * m + k] = scratch[q];
  }
}

/// Transforms every line along `axis`.
template <typename Real>
void transformAxis(std::vector<std::complex<Real>>& values, std::span<const std::int64_t> shape,
                   std::size_t axis, FftDirection direction) {
  const std::int64_t n = shape[axis];
  if (n < 2)
    return;
  std::int64_t inner = 1;
  for (std::size_t i = axis + 1; i < shape.size(); ++i)
    inner *= shape[i];
  const std::vector<std::complex<Real>> roots =
      rootsOfUnity<Real>(n, direction == FftDirection::Inverse);
  const Real scale = direction == FftDirection::Inverse ? static_cast<Real>(n) : Real(1);
  base::forEach(static_cast<std::int64_t>(values.size()) / n, [&](std::int64_t line) {
    std::vector<std::complex<Real>> result(static_cast<std::size_t>(n)), scratch(result.size());
    std::complex<Real>* first = values.data() + line / inner * inner * n + line % inner;
    transform(first, result.data(), n, inner, roots, scratch);
    for (std::int64_t k = 0; k < n; ++k)
      first[k * inner] = result[k] / scale;
  });
}

/// Transforms complex numbers with parts of type `Part`.
template <typename Part>
Tensor fftOf(const Tensor& tensor, std::int64_t axes, FftDirection direction) {
  using Real = numerics::TransformedIn<Part>;
  const auto source = tensor.as<Part>();
  std::vector<std::complex<Real>> values(source.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = {source[2 * i], source[2 * i + 1]};
  const auto rank = static_cast<std::int64_t>(tensor.shape.size());
  for (std::int64_t i = 0; i < axes; ++i) {
    // Forward: from the last axis outwards. Inverse: in the reverse order.
    const std::int64_t axis = direction == FftDirection::Forward ? rank - 1 - i : rank - axes + i;
    transformAxis<Real>(values, tensor.shape, static_cast<std::size_t>(axis), direction);
  }
  Tensor result = Tensor::zeros(tensor.type, tensor.shape);
  const auto target = result.as<Part>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    target[2 * i] = canonicalNan(static_cast<Part>(values[i].real()));
    target[2 * i + 1] = canonicalNan(static_cast<Part>(values[i].imag()));
  }
  return result;
}

/// The first `length` indices of the last axis.
Tensor firstOfLast(const Tensor& tensor, std::int64_t length) {
  std::vector<std::int64_t> limit = tensor.shape;
  limit.back() = length;
  return slice(tensor, std::vector<std::int64_t>(limit.size(), 0), limit,
               std::vector<std::int64_t>(limit.size(), 1));
}

} // namespace

Tensor fft(const Tensor& tensor, std::int64_t axes, FftDirection direction) {
  return tensor.type.part() == kF64.format() ? fftOf<double>(tensor, axes, direction)
                                             : fftOf<float>(tensor, axes, direction);
}

Tensor realFft(const Tensor& tensor, std::int64_t axes) {
  const Tensor whole = convertElements(tensor, ComplexType{&tensor.type.format()});
  const std::int64_t length = tensor.shape.back();
  return firstOfLast(fft(whole, axes, FftDirection::Forward), length == 0 ? 0 : length / 2 + 1);
}

Tensor inverseRealFft(const Tensor& tensor, std::int64_t axes, std::int64_t length) {
  // X[-k, n - j] is the conjugate of X[k, j]: on the other transformed axes, the index is negated.
  std::vector<std::int64_t> shape = tensor.shape;
  const std::int64_t kept = shape.back();
  shape.back() = length;
  Tensor whole = Tensor::zeros(tensor.type, shape);
  const std::vector<std::int64_t> from = rowMajorStrides(tensor.shape);
  const std::size_t rank = shape.size(), first = rank - static_cast<std::size_t>(axes);
  const auto fill = [&]<typename Part>(Part) {
    const auto source = tensor.as<Part>();
    const auto target = whole.as<Part>();
    std::vector<std::int64_t> index(rank, 0);
    std::size_t written = 0;
    do {
      const bool isGiven = index.back() < kept;
      std::int64_t place = 0;
      for (std::size_t axis = 0; axis < rank; ++axis) {
        const bool isMirrored = !isGiven && axis >= first;
        place +=
            (isMirrored ? (shape[axis] - index[axis]) % shape[axis] : index[axis]) * from[axis];
      }
      target[written] = source[2 * place];
      target[written + 1] = isGiven ? source[2 * place + 1] : -source[2 * place + 1];
      written += 2;
    } while (nextIndex(index, shape));
  };
  if (whole.size() != 0)
    tensor.type.part() == kF64.format() ? fill(double{}) : fill(float{});
  return convertElements(fft(whole, axes, FftDirection::Inverse), tensor.type.part());
}

} // namespace octavo::interpreter
