// The LAPACK routines that programs call, by the names of JAX's custom calls.
#pragma once

#include "octavo/Interpreter/Lapack/Batch.h"

namespace octavo::interpreter::lapack {

/// Computes the results of a call in place. Returns an error message; empty if there is none.
using Kernel = std::string (*)(Batch&);

/// A routine, with a kernel for each of f32, f64, complex<f32> and complex<f64>.
struct Call {
  std::string_view name;        ///< of the real routine: getrf
  std::string_view complexName; ///< of the complex routine; differs for orgqr, ungqr
  std::string_view signature, complexSignature;
  std::string_view letters; ///< the options, in the form of Batch::make
  Kernel f32, f64, complex32, complex64;

  Kernel kernel(const ElementType& type) const;
};

/// All routines, sorted by name.
std::span<const Call> calls();

/// Runs the call and returns the results. `results` gives their types, shapes and initial contents.
/// The element type is that of the first operand. The error says what does not fit.
tl::expected<std::vector<Tensor>, std::string> run(const Call& call, std::vector<Tensor> operands,
                                                   std::vector<Tensor> results,
                                                   const Options& options);

/// The row of a routine whose kernel is K, with `template <typename T> static std::string
/// run(Batch&)`.
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

// One for each file.
std::vector<Call> factorizations();
std::vector<Call> eigenvalues();
std::vector<Call> solvers();

} // namespace octavo::interpreter::lapack
