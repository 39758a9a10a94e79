// Eigenvalues, singular values and the Schur form.
#include "octavo/Interpreter/Lapack/Calls.h"

#include <algorithm>
#include <cmath>

namespace octavo::interpreter::lapack {

namespace {

/// Unpacks eigenvectors: LAPACK stores the real and imaginary parts of a conjugate pair in two
/// adjacent columns.
template <typename T>
void unpackVectors(Int n, std::span<const T> imaginary, const std::vector<T>& packed,
                   std::span<std::complex<T>> vectors) {
  const auto size = static_cast<std::size_t>(n);
  for (std::size_t j = 0; j < size; ++j) {
    const bool isPair = imaginary[j] != 0 && j + 1 < size;
    for (std::size_t i = 0; i < size; ++i) {
      const T real = packed[j * size + i];
      const T part = isPair ? packed[(j + 1) * size + i] : T(0);
      vectors[j * size + i] = {real, part};
      if (isPair)
        vectors[(j + 1) * size + i] = {real, -part};
    }
    if (isPair)
      ++j;
  }
}

struct Geev {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i)
      runOne<T>(batch, n, i);
    return "";
  }

  template <typename T> static void runOne(Batch& batch, Int n, std::int64_t i) {
    const char left = batch.letter("compute_left"), right = batch.letter("compute_right");
    const std::span<const T> operand = batch.operand<T>(0, i);
    std::vector<T> a(operand.begin(), operand.end());
    constexpr std::size_t kInfo = kIsComplex<T> ? 3 : 4;
    Int& info = batch.result<Int>(kInfo, i).front();
    // As in XLA: LAPACK's iteration may not terminate on infinities and NaN.
    if (std::ranges::any_of(a, [](const T& x) {
          return !std::isfinite(std::real(x)) || !std::isfinite(std::imag(x));
        })) {
      info = -4;
      return;
    }
    if constexpr (kIsComplex<T>) {
      std::vector<Real<T>> reals(2 * static_cast<std::size_t>(leading(n)));
      withWork<T>([&](T* work, Int size) {
        Routines<T>::geev(left, right, n, a.data(), leading(n), batch.result<T>(0, i).data(),
                          batch.result<T>(1, i).data(), leading(n), batch.result<T>(2, i).data(),
                          leading(n), work, size, reals.data(), info, 1, 1);
      });
    } else {
      std::vector<T> vl(a.size()), vr(a.size());
      const std::span<T> imaginary = batch.result<T>(1, i);
      withWork<T>([&](T* work, Int size) {
        Routines<T>::geev(left, right, n, a.data(), leading(n), batch.result<T>(0, i).data(),
                          imaginary.data(), vl.data(), leading(n), vr.data(), leading(n), work,
                          size, info, 1, 1);
      });
      if (info != 0)
        return;
      if (left == 'V')
        unpackVectors<T>(n, imaginary, vl, batch.result<std::complex<T>>(2, i));
      if (right == 'V')
        unpackVectors<T>(n, imaginary, vr, batch.result<std::complex<T>>(3, i));
    }
  }
};

struct Gees {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    constexpr std::size_t kSelected = kIsComplex<T> ? 3 : 4;
    std::vector<Int> logicals(static_cast<std::size_t>(leading(n)));
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* a = batch.inPlace<T>(0, 0, i);
      T* vectors = batch.result<T>(1, i).data();
      Int& selected = batch.result<Int>(kSelected, i).front();
      Int& info = batch.result<Int>(kSelected + 1, i).front();
      withWork<T>([&](T* work, Int size) {
        if constexpr (kIsComplex<T>) {
          std::vector<Real<T>> reals(static_cast<std::size_t>(leading(n)));
          Routines<T>::gees(batch.letter("mode"), 'N', nullptr, n, a, leading(n), selected,
                            batch.result<T>(2, i).data(), vectors, leading(n), work, size,
                            reals.data(), logicals.data(), info, 1, 1);
        } else {
          Routines<T>::gees(batch.letter("mode"), 'N', nullptr, n, a, leading(n), selected,
                            batch.result<T>(2, i).data(), batch.result<T>(3, i).data(), vectors,
                            leading(n), work, size, logicals.data(), info, 1, 1);
        }
      });
    }
    return "";
  }
};

template <typename T>
void decomposeSymmetric(char vectors, char triangle, Int n, T* a, Real<T>* w, Int& info) {
  Int integersWanted = 0;
  Real<T> realsWanted = 0;
  T wanted{};
  const auto call = [&](T* work, Int size, Real<T>* reals, Int realsSize, Int* integers,
                        Int integersSize) {
    if constexpr (kIsComplex<T>)
      Routines<T>::syevd(vectors, triangle, n, a, leading(n), w, work, size, reals, realsSize,
                         integers, integersSize, info, 1, 1);
    else
      Routines<T>::syevd(vectors, triangle, n, a, leading(n), w, work, size, integers, integersSize,
                         info, 1, 1);
  };
  call(&wanted, -1, &realsWanted, -1, &integersWanted, -1);
  std::vector<T> work(static_cast<std::size_t>(leading(static_cast<Int>(std::real(wanted)))));
  std::vector<Real<T>> reals(static_cast<std::size_t>(leading(static_cast<Int>(realsWanted))));
  std::vector<Int> integers(static_cast<std::size_t>(leading(integersWanted)));
  call(work.data(), static_cast<Int>(work.size()), reals.data(), static_cast<Int>(reals.size()),
       integers.data(), static_cast<Int>(integers.size()));
}

struct Syevd {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i)
      decomposeSymmetric<T>(batch.letter("mode"), batch.letter("uplo"), n,
                            batch.inPlace<T>(0, 0, i), batch.result<Real<T>>(1, i).data(),
                            batch.result<Int>(2, i).front());
    return "";
  }
};

struct Eigh {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      Int info = 0;
      decomposeSymmetric<T>('V', batch.option("lower") != 0 ? 'L' : 'U', n,
                            batch.inPlace<T>(0, 0, i), batch.result<Real<T>>(1, i).data(), info);
    }
    return "";
  }
};

/// Why the shapes of the singular vectors do not fit the mode; empty if they do.
std::string vectorMisfit(const Batch& batch) {
  const Int m = batch.extent('m'), n = batch.extent('n'), k = batch.extent('k');
  const char mode = batch.letter("mode");
  const Int columns = mode == 'A' ? m : k, rows = mode == 'A' ? n : k;
  if (mode == 'N' || (batch.extent('u') == columns && batch.extent('v') == rows))
    return "";
  return std::string("in mode ") + mode + " gives " + std::to_string(columns) + " left and " +
         std::to_string(rows) + " right singular vectors; found " +
         std::to_string(batch.extent('u')) + " and " + std::to_string(batch.extent('v'));
}

/// Calls routine(a, s, left, right, info) for each matrix of the batch.
template <typename T, typename Routine>
std::string decomposeSingular(Batch& batch, const Routine& routine) {
  if (std::string wrong = vectorMisfit(batch); !wrong.empty())
    return wrong;
  for (std::int64_t i = 0; i < batch.size(); ++i)
    routine(batch.inPlace<T>(0, 0, i), batch.result<Real<T>>(1, i).data(),
            batch.result<T>(2, i).data(), batch.result<T>(3, i).data(),
            batch.result<Int>(4, i).front());
  return "";
}

struct Gesdd {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n'), v = batch.extent('v');
    const auto least = static_cast<std::size_t>(std::min(m, n));
    const auto most = static_cast<std::size_t>(std::max(m, n));
    std::vector<Int> integers(8 * least + 1);
    // The larger of LAPACK's two bounds, for every mode.
    std::vector<Real<T>> reals(kIsComplex<T>
                                   ? std::max(5 * least * least + 5 * least,
                                              2 * most * least + 2 * least * least + least) +
                                         7 * least + 1
                                   : 0);
    return decomposeSingular<T>(batch, [&](T* a, Real<T>* s, T* left, T* right, Int& info) {
      withWork<T>([&](T* work, Int size) {
        if constexpr (kIsComplex<T>)
          Routines<T>::gesdd(batch.letter("mode"), m, n, a, leading(m), s, left, leading(m), right,
                             leading(v), work, size, reals.data(), integers.data(), info, 1);
        else
          Routines<T>::gesdd(batch.letter("mode"), m, n, a, leading(m), s, left, leading(m), right,
                             leading(v), work, size, integers.data(), info, 1);
      });
    });
  }
};

struct Gesvd {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n'), v = batch.extent('v');
    const char mode = batch.letter("mode");
    std::vector<Real<T>> reals(kIsComplex<T> ? 5 * static_cast<std::size_t>(std::min(m, n)) + 1
                                             : 0);
    return decomposeSingular<T>(batch, [&](T* a, Real<T>* s, T* left, T* right, Int& info) {
      withWork<T>([&](T* work, Int size) {
        if constexpr (kIsComplex<T>)
          Routines<T>::gesvd(mode, mode, m, n, a, leading(m), s, left, leading(m), right,
                             leading(v), work, size, reals.data(), info, 1, 1);
        else
          Routines<T>::gesvd(mode, mode, m, n, a, leading(m), s, left, leading(m), right,
                             leading(v), work, size, info, 1, 1);
      });
    });
  }
};

} // namespace

std::vector<Call> eigenvalues() {
  const char* svd = "T[m,n] -> T[m,n] R[k] T[m,u] T[v,n] i[]";
  Call syevd = callOf<Syevd>("syevd", "T[n,n] -> T[n,n] R[n] i[]", "mode=NV uplo=LU");
  syevd.complexName = "heevd";
  Call geev = callOf<Geev>("geev", "T[n,n] -> T[n] T[n] C[n,n] C[n,n] i[]",
                           "compute_left=NV compute_right=NV");
  geev.complexSignature = "T[n,n] -> T[n] T[n,n] T[n,n] i[]";
  Call gees = callOf<Gees>("gees", "T[n,n] -> T[n,n] T[n,n] T[n] T[n] i[] i[]", "mode=NV sort=N");
  gees.complexSignature = "T[n,n] -> T[n,n] T[n,n] T[n] i[] i[]";
  return {callOf<Eigh>("Eigh", "T[n,n] -> T[n,n] R[n]", "lower=#"),
          gees,
          geev,
          callOf<Gesdd>("gesdd", svd, "mode=ASN"),
          callOf<Gesvd>("gesvd", svd, "mode=ASN"),
          syevd};
}

} // namespace octavo::interpreter::lapack
