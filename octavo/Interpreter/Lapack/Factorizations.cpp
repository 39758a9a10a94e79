// LU, QR, Cholesky, Hessenberg and tridiagonal factorizations, and products with their reflectors.
#include "octavo/Interpreter/Lapack/Calls.h"

#include <numeric>

namespace octavo::interpreter::lapack {

namespace {

struct Getrf {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i)
      Routines<T>::getrf(m, n, batch.inPlace<T>(0, 0, i), leading(m),
                         batch.result<Int>(1, i).data(), batch.result<Int>(2, i).front());
    return "";
  }
};

/// As getrf, but pivots count from 0, and the resulting permutation of rows is a third result.
struct LuDecomposition {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      const std::span<Int> pivots = batch.result<Int>(1, i), rows = batch.result<Int>(2, i);
      Int info = 0;
      Routines<T>::getrf(m, n, batch.inPlace<T>(0, 0, i), leading(m), pivots.data(), info);
      std::iota(rows.begin(), rows.end(), 0);
      for (std::size_t row = 0; row < pivots.size(); ++row) {
        --pivots[row];
        std::swap(rows[row], rows[static_cast<std::size_t>(pivots[row])]);
      }
    }
    return "";
  }
};

struct Geqrf {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* a = batch.inPlace<T>(0, 0, i);
      Int info = 0;
      withWork<T>([&](T* work, Int size) {
        Routines<T>::geqrf(m, n, a, leading(m), batch.result<T>(1, i).data(), work, size, info);
      });
    }
    return "";
  }
};

struct Geqp3 {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* a = batch.inPlace<T>(0, 0, i);
      Int* columns = batch.inPlace<Int>(1, 1, i);
      T* tau = batch.result<T>(2, i).data();
      Int info = 0;
      withWork<T>([&](T* work, Int size) {
        if constexpr (kIsComplex<T>) {
          std::vector<Real<T>> reals(2 * static_cast<std::size_t>(leading(n)));
          Routines<T>::geqp3(m, n, a, leading(m), columns, tau, work, size, reals.data(), info);
        } else {
          Routines<T>::geqp3(m, n, a, leading(m), columns, tau, work, size, info);
        }
      });
    }
    return "";
  }
};

struct Orgqr {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n'), reflectors = batch.extent('p');
    if (n > m || reflectors > n)
      return "takes at least as many rows as columns and as columns as reflectors; found " +
             std::to_string(m) + ", " + std::to_string(n) + " and " + std::to_string(reflectors);
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* a = batch.inPlace<T>(0, 0, i);
      Int info = 0;
      withWork<T>([&](T* work, Int size) {
        Routines<T>::orgqr(m, n, reflectors, a, leading(m), batch.operand<T>(1, i).data(), work,
                           size, info);
      });
    }
    return "";
  }
};

struct Ormqr {
  template <typename T> static std::string run(Batch& batch) {
    const Int m = batch.extent('m'), n = batch.extent('n'), rows = batch.extent('a');
    const Int reflectors = batch.extent('q');
    const bool isLeft = batch.option("left") != 0;
    if (rows != (isLeft ? m : n) || reflectors > batch.extent('p') || reflectors > rows)
      return "takes reflectors of " + std::to_string(isLeft ? m : n) +
             " rows, at most as many as there are rows and columns; found " + std::to_string(rows) +
             " rows, " + std::to_string(batch.extent('p')) + " columns and " +
             std::to_string(reflectors) + " reflectors";
    const char form = batch.option("transpose") == 0 ? 'N' : kIsComplex<T> ? 'C' : 'T';
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* c = batch.inPlace<T>(2, 0, i);
      Int info = 0;
      withWork<T>([&](T* work, Int size) {
        Routines<T>::ormqr(isLeft ? 'L' : 'R', form, m, n, reflectors,
                           batch.operand<T>(0, i).data(), leading(rows),
                           batch.operand<T>(1, i).data(), c, leading(m), work, size, info, 1, 1);
      });
    }
    return "";
  }
};

struct Potrf {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i)
      Routines<T>::potrf(batch.letter("uplo"), n, batch.inPlace<T>(0, 0, i), leading(n),
                         batch.result<Int>(1, i).front(), 1);
    return "";
  }
};

struct Gehrd {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    const std::int64_t low = batch.option("low"), high = batch.option("high");
    if (low < 1 || low > leading(n) || high < std::min<std::int64_t>(low, n) || high > n)
      return "takes 1 <= low <= high <= " + std::to_string(n) + "; found " + std::to_string(low) +
             " and " + std::to_string(high);
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* a = batch.inPlace<T>(0, 0, i);
      withWork<T>([&](T* work, Int size) {
        Routines<T>::gehrd(n, static_cast<Int>(low), static_cast<Int>(high), a, leading(n),
                           batch.result<T>(1, i).data(), work, size,
                           batch.result<Int>(2, i).front());
      });
    }
    return "";
  }
};

struct Sytrd {
  template <typename T> static std::string run(Batch& batch) {
    const Int n = batch.extent('n');
    for (std::int64_t i = 0; i < batch.size(); ++i) {
      T* a = batch.inPlace<T>(0, 0, i);
      withWork<T>([&](T* work, Int size) {
        Routines<T>::sytrd(batch.letter("uplo"), n, a, leading(n),
                           batch.result<Real<T>>(1, i).data(), batch.result<Real<T>>(2, i).data(),
                           batch.result<T>(3, i).data(), work, size,
                           batch.result<Int>(4, i).front(), 1);
      });
    }
    return "";
  }
};

} // namespace

std::vector<Call> factorizations() {
  Call orgqr = callOf<Orgqr>("orgqr", "T[m,n] T[p] -> T[m,n]");
  orgqr.complexName = "ungqr";
  Call ormqr = callOf<Ormqr>("ormqr", "T[a,p] T[q] T[m,n] -> T[m,n]", "left=# transpose=#");
  ormqr.complexName = "unmqr";
  Call sytrd = callOf<Sytrd>("sytrd", "T[n,n] -> T[n,n] R[n] R[l] T[l] i[]", "uplo=LU");
  sytrd.complexName = "hetrd";
  return {callOf<Gehrd>("gehrd", "T[n,n] -> T[n,n] T[l] i[]", "low=# high=#"),
          callOf<Geqp3>("geqp3", "T[m,n] i[n] -> T[m,n] i[n] T[k]"),
          callOf<Geqrf>("Qr", "T[m,n] -> T[m,n] T[k]"),
          callOf<Geqrf>("geqrf", "T[m,n] -> T[m,n] T[k]"),
          callOf<Getrf>("getrf", "T[m,n] -> T[m,n] i[k] i[]"),
          callOf<LuDecomposition>("LuDecomposition", "T[m,n] -> T[m,n] i[k] i[m]"),
          callOf<Orgqr>("ProductOfElementaryHouseholderReflectors", "T[m,n] T[p] -> T[m,n]"),
          orgqr,
          ormqr,
          callOf<Potrf>("potrf", "T[n,n] -> T[n,n] i[]", "uplo=LU"),
          sytrd};
}

} // namespace octavo::interpreter::lapack
