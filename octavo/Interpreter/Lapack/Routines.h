// Declares routines of LAPACK and the BLAS, with one name for the four element types.
#pragma once

#include <complex>
#include <concepts>
#include <cstddef>

namespace octavo::interpreter::lapack {

/// Fortran's INTEGER and LOGICAL.
using Int = int;

/// The real type of a real or complex type.
template <typename T> struct RealOf {
  using type = T;
};
template <typename T> struct RealOf<std::complex<T>> {
  using type = T;
};
template <typename T> using Real = typename RealOf<T>::type;
template <typename T> inline constexpr bool kIsComplex = !std::same_as<T, Real<T>>;

// Arguments are references, as Fortran passes them; the lengths of the text arguments come last.
#define OCTAVO_LAPACK_OF_ALL(p, T, orthogonal, symmetric, R)                                       \
  extern "C" {                                                                                     \
  void p##getrf_(const Int& m, const Int& n, T* a, const Int& lda, Int* pivots, Int& info);        \
  void p##geqrf_(const Int& m, const Int& n, T* a, const Int& lda, T* tau, T* work,                \
                 const Int& workSize, Int& info);                                                  \
  void p##orthogonal##gqr_(const Int& m, const Int& n, const Int& k, T* a, const Int& lda,         \
                           const T* tau, T* work, const Int& workSize, Int& info);                 \
  void p##orthogonal##mqr_(const char& side, const char& form, const Int& m, const Int& n,         \
                           const Int& k, const T* a, const Int& lda, const T* tau, T* c,           \
                           const Int& ldc, T* work, const Int& workSize, Int& info, std::size_t,   \
                           std::size_t);                                                           \
  void p##potrf_(const char& triangle, const Int& n, T* a, const Int& lda, Int& info,              \
                 std::size_t);                                                                     \
  void p##gehrd_(const Int& n, const Int& low, const Int& high, T* a, const Int& lda, T* tau,      \
                 T* work, const Int& workSize, Int& info);                                         \
  void p##symmetric##trd_(const char& triangle, const Int& n, T* a, const Int& lda, R* d, R* e,    \
                          T* tau, T* work, const Int& workSize, Int& info, std::size_t);           \
  void p##gtsv_(const Int& n, const Int& sides, T* lower, T* diagonal, T* upper, T* b,             \
                const Int& ldb, Int& info);                                                        \
  void p##trsm_(const char& side, const char& triangle, const char& form, const char& diagonal,    \
                const Int& m, const Int& n, const T& alpha, const T* a, const Int& lda, T* b,      \
                const Int& ldb, std::size_t, std::size_t, std::size_t, std::size_t);               \
  }                                                                                                \
  template <> struct Routines<T> {                                                                 \
    static constexpr auto getrf = p##getrf_;                                                       \
    static constexpr auto geqrf = p##geqrf_;                                                       \
    static constexpr auto orgqr = p##orthogonal##gqr_;                                             \
    static constexpr auto ormqr = p##orthogonal##mqr_;                                             \
    static constexpr auto potrf = p##potrf_;                                                       \
    static constexpr auto gehrd = p##gehrd_;                                                       \
    static constexpr auto sytrd = p##symmetric##trd_;                                              \
    static constexpr auto gtsv = p##gtsv_;                                                         \
    static constexpr auto trsm = p##trsm_;                                                         \
    static constexpr auto geqp3 = p##geqp3_;                                                       \
    static constexpr auto syevd = p##symmetric##evd_;                                              \
    static constexpr auto gesdd = p##gesdd_;                                                       \
    static constexpr auto gesvd = p##gesvd_;                                                       \
    static constexpr auto geev = p##geev_;                                                         \
    static constexpr auto gees = p##gees_;                                                         \
  }

#define OCTAVO_LAPACK_OF_REALS(p, T)                                                               \
  extern "C" {                                                                                     \
  void p##geqp3_(const Int& m, const Int& n, T* a, const Int& lda, Int* columns, T* tau, T* work,  \
                 const Int& workSize, Int& info);                                                  \
  void p##syevd_(const char& vectors, const char& triangle, const Int& n, T* a, const Int& lda,    \
                 T* w, T* work, const Int& workSize, Int* integers, const Int& integersSize,       \
                 Int& info, std::size_t, std::size_t);                                             \
  void p##gesdd_(const char& vectors, const Int& m, const Int& n, T* a, const Int& lda, T* s,      \
                 T* u, const Int& ldu, T* vt, const Int& ldvt, T* work, const Int& workSize,       \
                 Int* integers, Int& info, std::size_t);                                           \
  void p##gesvd_(const char& left, const char& right, const Int& m, const Int& n, T* a,            \
                 const Int& lda, T* s, T* u, const Int& ldu, T* vt, const Int& ldvt, T* work,      \
                 const Int& workSize, Int& info, std::size_t, std::size_t);                        \
  void p##geev_(const char& left, const char& right, const Int& n, T* a, const Int& lda, T* real,  \
                T* imaginary, T* vl, const Int& ldvl, T* vr, const Int& ldvr, T* work,             \
                const Int& workSize, Int& info, std::size_t, std::size_t);                         \
  void p##gees_(const char& vectors, const char& sort, Int (*select)(const T*, const T*),          \
                const Int& n, T* a, const Int& lda, Int& selected, T* real, T* imaginary, T* vs,   \
                const Int& ldvs, T* work, const Int& workSize, Int* logicals, Int& info,           \
                std::size_t, std::size_t);                                                         \
  }

#define OCTAVO_LAPACK_OF_COMPLEX(p, T, R)                                                          \
  extern "C" {                                                                                     \
  void p##geqp3_(const Int& m, const Int& n, T* a, const Int& lda, Int* columns, T* tau, T* work,  \
                 const Int& workSize, R* reals, Int& info);                                        \
  void p##heevd_(const char& vectors, const char& triangle, const Int& n, T* a, const Int& lda,    \
                 R* w, T* work, const Int& workSize, R* reals, const Int& realsSize,               \
                 Int* integers, const Int& integersSize, Int& info, std::size_t, std::size_t);     \
  void p##gesdd_(const char& vectors, const Int& m, const Int& n, T* a, const Int& lda, R* s,      \
                 T* u, const Int& ldu, T* vt, const Int& ldvt, T* work, const Int& workSize,       \
                 R* reals, Int* integers, Int& info, std::size_t);                                 \
  void p##gesvd_(const char& left, const char& right, const Int& m, const Int& n, T* a,            \
                 const Int& lda, R* s, T* u, const Int& ldu, T* vt, const Int& ldvt, T* work,      \
                 const Int& workSize, R* reals, Int& info, std::size_t, std::size_t);              \
  void p##geev_(const char& left, const char& right, const Int& n, T* a, const Int& lda, T* w,     \
                T* vl, const Int& ldvl, T* vr, const Int& ldvr, T* work, const Int& workSize,      \
                R* reals, Int& info, std::size_t, std::size_t);                                    \
  void p##gees_(const char& vectors, const char& sort, Int (*select)(const T*), const Int& n,      \
                T* a, const Int& lda, Int& selected, T* w, T* vs, const Int& ldvs, T* work,        \
                const Int& workSize, R* reals, Int* logicals, Int& info, std::size_t,              \
                std::size_t);                                                                      \
  }

/// The routines for elements of type T: Routines<T>::getrf and so on.
template <typename T> struct Routines;

OCTAVO_LAPACK_OF_REALS(s, float)
OCTAVO_LAPACK_OF_REALS(d, double)
OCTAVO_LAPACK_OF_COMPLEX(c, std::complex<float>, float)
OCTAVO_LAPACK_OF_COMPLEX(z, std::complex<double>, double)
OCTAVO_LAPACK_OF_ALL(s, float, or, sy, float);
OCTAVO_LAPACK_OF_ALL(d, double, or, sy, double);
OCTAVO_LAPACK_OF_ALL(c, std::complex<float>, un, he, float);
OCTAVO_LAPACK_OF_ALL(z, std::complex<double>, un, he, double);

#undef OCTAVO_LAPACK_OF_REALS
#undef OCTAVO_LAPACK_OF_COMPLEX
#undef OCTAVO_LAPACK_OF_ALL

} // namespace octavo::interpreter::lapack
