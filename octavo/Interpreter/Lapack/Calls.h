// The routines of LAPACK that programs call, by the names of JAX's custom calls.
#pragma once

#include "octavo/Interpreter/Lapack/Batch.h"

namespace octavo::interpreter::lapack {

/// Computes the results of a call in place; says what is wrong with it, empty if nothing.
using Kernel = std::string (*)(Batch&);

/// One routine for elements of f32, f64, complex<f32> and complex<f64>.
struct Call {
  std::string_view name;        ///< getrf
  std::string_view complexName; ///< where it differs: orgqr, ungqr
  std::string_view signature, complexSignature;
  std::string_view letters; ///< the options, as Batch::make takes them
  Kernel f32, f64, complex32, complex64;

  Kernel kernel(const ElementType& type) const;
};

/// All of them, in the order of their names.
std::span<const Call> calls();

/// The results, which begin as `results`; the error says what does not fit. The type of the
/// elements is that of the first operand.
tl::expected<std::vector<Tensor>, std::string> run(const Call& call, std::vector<Tensor> operands,
                                                   std::vector<Tensor> results,
                                                   const Options& options);

/// A row of the table for a kernel `template <typename T> static std::string run(Batch&)`.
template <typename K>
Call callOf(std::string_view name, std::string_view signature, std::string_view letters = "") {
  using C = std::complex<float>;
  using Z = std::complex<double>;
  return {name,
          name,
          signature,
          signature,
          letters,
          K::template run<float>,
          K::template run<double>,
          K::template run<C>,
          K::template run<Z>};
}

// One a file.
std::vector<Call> factorizations();
std::vector<Call> eigenvalues();
std::vector<Call> solvers();

} // namespace octavo::interpreter::lapack
